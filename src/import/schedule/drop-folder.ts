import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../common/errors.js';

/** A file counts as complete when it has not been written to for this long. */
const STABLE_MILLIS = 10_000;
const MARKER = '.done';
/** Between the run's id and the file's own name. */
const SEPARATOR = '~';
/** Limit of one file name in most file systems; a UUID and its separator use a part of it. */
const MAX_NAME_BYTES = 255;
const UUID_BYTES = 37;

export interface ClaimedFile {
  runId: string;
  name: string;
  path: string;
}

/** The folder that files are dropped into. They move to `processing/`, then to `done/` or `failed/`. */
export class DropFolder {
  private readonly pattern: RegExp;

  /** @param pattern file names in any case; `*` matches any characters and `?` one. */
  constructor(
    private readonly folder: string,
    pattern: string,
  ) {
    const parts = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    this.pattern = new RegExp(`^${parts}$`, 'i');
  }

  /** The files to import, in the order of their names. A file is ready when it is complete. */
  async waiting(): Promise<{ name: string; ready: boolean }[]> {
    const entries = await readdir(this.folder, { withFileTypes: true });
    const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const files = [...names].filter((name) => this.matches(name)).sort();
    return Promise.all(
      files.map(async (name) => ({ name, ready: names.has(name + MARKER) || (await this.isStable(name)) })),
    );
  }

  /** Moves a file to `processing/`; of a long name the end is kept. @returns undefined when another process was faster. */
  async claim(name: string, runId: string): Promise<ClaimedFile | undefined> {
    await mkdir(this.processing, { recursive: true });
    const kept = ending(name, MAX_NAME_BYTES - UUID_BYTES);
    const path = join(this.processing, runId + SEPARATOR + kept);
    // Before the file: a marker that outlives its file would declare an incomplete next one complete.
    const marker = name + MARKER;
    if (Buffer.byteLength(marker) <= MAX_NAME_BYTES) await rm(join(this.folder, marker), { force: true });
    try {
      await rename(join(this.folder, name), path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    return { runId, name: kept, path };
  }

  /** The files in `processing/`, in the order of their runs' ids. */
  async claimed(): Promise<ClaimedFile[]> {
    const names = await readdir(this.processing).catch((error: unknown): string[] => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    return names.sort().flatMap((entry) => {
      const cut = entry.indexOf(SEPARATOR);
      if (cut < 0) return [];
      return [{ runId: entry.slice(0, cut), name: entry.slice(cut + 1), path: join(this.processing, entry) }];
    });
  }

  /** Moves a claimed file to `done/` or `failed/`, with the id of its run in its name. */
  async archive({ runId, name, path }: ClaimedFile, into: 'done' | 'failed'): Promise<void> {
    const folder = join(this.folder, into);
    await mkdir(folder, { recursive: true });
    const dot = name.lastIndexOf('.');
    const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    await rename(path, join(folder, `${base}.${runId}${extension}`));
  }

  private get processing(): string {
    return join(this.folder, 'processing');
  }

  private matches(name: string): boolean {
    return this.pattern.test(name) && !name.startsWith('.') && !name.endsWith(MARKER);
  }

  /** Whether it was not written to for STABLE_MILLIS. Copying programs may set the modification time, not the change time. */
  private async isStable(name: string): Promise<boolean> {
    const { mtimeMs, ctimeMs } = await stat(join(this.folder, name));
    return Date.now() - Math.max(mtimeMs, ctimeMs) >= STABLE_MILLIS;
  }
}

function ending(name: string, bytes: number): string {
  const characters = Array.from(name);
  while (Buffer.byteLength(characters.join('')) > bytes) characters.shift();
  return characters.join('');
}
