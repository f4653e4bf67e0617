import { existsSync, readFileSync } from 'node:fs';

/** The package's description is one folder above a bundle, and three above this source. */
const PLACES = ['../package.json', '../../../package.json'];

function readVersion(): string {
  const found = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (!found) throw new Error(`There is no package.json above ${import.meta.url}`);
  return (JSON.parse(readFileSync(found, 'utf8')) as { version: string }).version;
}

/** The version of this program, as its package has it. */
export const VERSION = readVersion();

/** The oldest Node.js that runs this program, as `engines` of package.json. It is the first whose SQLite loses no commits. */
export const NEEDED_NODE = '22.23';

/** @param version such as `24.21.0`. */
export const isNodeNewEnough = (version: string): boolean =>
  version.localeCompare(NEEDED_NODE, 'en', { numeric: true }) >= 0;
