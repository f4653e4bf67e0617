import { existsSync, readFileSync } from 'node:fs';

/** Possible paths of package.json: one folder above a bundle, or three folders above this source file. */
const PATHS = ['../package.json', '../../../package.json'];

function readVersion(): string {
  const found = PATHS.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (!found) throw new Error(`No package.json was found in the folders above ${import.meta.url}.`);
  return (JSON.parse(readFileSync(found, 'utf8')) as { version: string }).version;
}

export const VERSION = readVersion();

/** Oldest supported Node.js, as in `engines` of package.json. The SQLite of older versions can lose commits. */
export const MIN_NODE_VERSION = '22.23';

export const isNodeNewEnough = (version: string): boolean =>
  version.localeCompare(MIN_NODE_VERSION, 'en', { numeric: true }) >= 0;
