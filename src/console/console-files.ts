import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { errorCodeOf } from '../platform/common/errors.js';

/**
 * The output folder of `bundle-console.mjs`, next to the bundled service. When tests run
 * from `build/`, it is in `dist/`.
 */
const BUNDLED = new URL('./console/', import.meta.url);
const FOLDER = existsSync(BUNDLED) ? BUNDLED : new URL('../../dist/console/', import.meta.url);

const PAGE = 'index.html';
/** Maps each content encoding to the file extension of the compressed variant. */
const EXTENSIONS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

export interface ConsoleFile {
  bytes: Buffer;
  /** The file extension. */
  type: string;
  /** Empty for the uncompressed file. */
  encoding: string;
  etag: string;
  /** True if the name contains a hash of the content, so that the file never changes. */
  isImmutable: boolean;
}

let names: Promise<ReadonlySet<string>> | undefined;

/**
 * Reads the file for a path below `/console/`. Every path that is not an asset returns the page. Files are not
 * cached in memory, because the operating system caches them.
 * @param encoding the encoding to send. Only `br` and `gzip` select a compressed variant.
 * @returns undefined for a missing file, and for every path if the console was not built.
 */
export async function readConsoleFile(path: string, encoding: string): Promise<ConsoleFile | undefined> {
  const name = path.startsWith('assets/') ? path : PAGE;
  if (!(await (names ??= listFiles(FOLDER))).has(name)) return undefined;
  const extension = EXTENSIONS[encoding] ?? '';
  const bytes = await readFile(new URL(`${name}${extension}`, FOLDER));
  return {
    bytes,
    type: extname(name),
    encoding: extension === '' ? '' : encoding,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isImmutable: name !== PAGE,
  };
}

/** Lists the existing files. No other name is ever opened. */
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
