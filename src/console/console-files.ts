import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { errorCodeOf } from '../platform/common/errors.js';

/**
 * The output folder of `bundle-console.mjs`, next to the bundled service. Tests run from `build/` and use the console
 * files in `dist/`.
 */
const BUNDLED = new URL('./console/', import.meta.url);
const FOLDER = existsSync(BUNDLED) ? BUNDLED : new URL('../../dist/console/', import.meta.url);

const PAGE = 'index.html';
const EXTENSIONS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

let names: Promise<ReadonlySet<string>> | undefined;

/**
 * Reads the file for a path below `/console/`, or the HTML page of the console if the path is not an asset. Files are
 * not cached in memory, because the operating system caches them.
 * @param encoding the preferred content encoding. Only `br` and `gzip` select a compressed file.
 * @returns undefined if the file is missing, or if the console was not built.
 */
export async function readConsoleFile(path: string, encoding: string) {
  const name = path.startsWith('assets/') ? path : PAGE;
  if (!(await (names ??= listFiles(FOLDER))).has(name)) return undefined;
  const extension = EXTENSIONS[encoding] ?? '';
  const bytes = await readFile(new URL(`${name}${extension}`, FOLDER));
  return {
    bytes,
    /** The file name extension, such as `.js`. */
    type: extname(name),
    /** The content encoding, or an empty string for the uncompressed file. */
    encoding: extension === '' ? '' : encoding,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    /** True if the file name contains a hash of the content. Caches can then keep the file forever. */
    isImmutable: name !== PAGE,
  };
}

/** Lists the files in the folder. Only files in this list are ever opened. */
async function listFiles(folder: URL): Promise<ReadonlySet<string>> {
  try {
    const assets = await readdir(new URL('assets/', folder));
    return new Set([
      PAGE,
      ...assets.filter((name) => !/\.(br|gz)$/.test(name)).map((name) => `assets/${name}`),
    ]);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return new Set();
    throw error;
  }
}
