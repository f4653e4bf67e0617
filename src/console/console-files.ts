import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

/** Matches the names of files that can be opened: the page and the assets, but no path outside of the folder. */
const FILE_NAME = /^(?:assets\/)?[\w-]+\.\w+$/;

/**
 * Reads the file for a path below `/console/`, or the HTML page of the console if the path is not an asset. Files are
 * not cached in memory, because the operating system caches them.
 * @param encoding the preferred content encoding. Only `br` and `gzip` select a compressed file.
 * @returns undefined if the file is missing, or if the console was not built.
 */
export async function readConsoleFile(path: string, encoding: string) {
  const name = path.startsWith('assets/') ? path : PAGE;
  if (!FILE_NAME.test(name)) return undefined;
  const extension = EXTENSIONS[encoding] ?? '';
  const bytes = await readFile(new URL(`${name}${extension}`, FOLDER)).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  });
  if (!bytes) return undefined;
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
