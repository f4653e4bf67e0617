import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { errorCode } from '../platform/common/errors.js';

/** Where `bundle-console.mjs` writes: next to the bundle of the service. Files of `build/`, which tests run, find it in `dist/`. */
const BUNDLED = new URL('./console/', import.meta.url);
const FOLDER = existsSync(BUNDLED) ? BUNDLED : new URL('../../dist/console/', import.meta.url);

const PAGE = 'index.html';
/** Endings of the compressed files, by the names of the encodings. */
const ENDINGS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

export interface ConsoleFile {
  bytes: Buffer;
  /** The ending of its name. */
  type: string;
  /** Empty for the file as it is. */
  encoding: string;
  etag: string;
  /** Whether its name tells its content, so that it never changes. */
  isFinal: boolean;
}

let names: Promise<ReadonlySet<string>> | undefined;

/**
 * The file for a path below `/console/`; the page for every path that is one of its pages. Nothing is read before the first
 * request, and nothing is kept in memory: the operating system does that.
 * @param encoding that the browser accepts: `br`, `gzip` or another one.
 * @returns undefined for a file that there is not, and for every path where the console has not been built.
 */
export async function consoleFile(path: string, encoding: string): Promise<ConsoleFile | undefined> {
  const name = path.startsWith('assets/') ? path : PAGE;
  if (!(await (names ??= filesOf(FOLDER))).has(name)) return undefined;
  const ending = ENDINGS[encoding] ?? '';
  const bytes = await readFile(new URL(`${name}${ending}`, FOLDER));
  return {
    bytes,
    type: extname(name),
    encoding: ending === '' ? '' : encoding,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isFinal: name !== PAGE,
  };
}

/** The files that there are: no other name is ever opened. */
async function filesOf(folder: URL): Promise<ReadonlySet<string>> {
  try {
    const assets = await readdir(new URL('assets/', folder));
    return new Set([
      PAGE,
      ...assets.filter((name) => !/\.(br|gz)$/.test(name)).map((name) => `assets/${name}`),
    ]);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return new Set();
    throw error;
  }
}
