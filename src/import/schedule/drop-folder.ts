import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file counts as complete when neither it nor its times have moved for so long. */
const STABLE_MILLIS = 10_000;
const MARKER = '.done';
/** Between the run's id and the file's own name. */
const SEPARATOR = '~';
/** Of one name, in most file systems; a UUID and its separator take their part of it. */
const MAX_NAME_BYTES = 255;
const UUID_BYTES = 37;

export interface ClaimedFile {
  runId: string;
  name: string;
  path: string;
}

/** The folder that files are dropped into, and what becomes of them: `processing/`, then `done/` or `failed/`. */
export class DropFolder {
  private readonly pattern: RegExp;

  /** @param pattern file names; `*` and `?` stand for any characters and any character. */
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

  /** The files that wait, oldest name first, each with whether it is complete. */
  async waiting(): Promise<{ name: string; ready: boolean }[]> {
    const entries = await readdir(this.folder, { withFileTypes: true });
    const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const files = [...names].filter((name) => this.isTaken(name)).sort();
    return Promise.all(
      files.map(async (name) => ({ name, ready: names.has(name + MARKER) || (await this.isStable(name)) })),
    );
  }

  /** Takes a file out of everybody's reach; of a long name the end is kept. @returns undefined when somebody else was faster. */
  async claim(name: string, runId: string): Promise<ClaimedFile | undefined> {
    await mkdir(this.processing, { recursive: true });
    const kept = ending(name, MAX_NAME_BYTES - UUID_BYTES);
    const path = join(this.processing, runId + SEPARATOR + kept);
    // First, or a marker that outlives its file would vouch for half of the next one. Without it the file waits until it is still.
    const marker = name + MARKER;
    if (Buffer.byteLength(marker) <= MAX_NAME_BYTES) await rm(join(this.folder, marker), { force: true });
    try {
      await rename(join(this.folder, name), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return { runId, name: kept, path };
  }

  /** Files that have been claimed and have not come to their end. */
  async claimed(): Promise<ClaimedFile[]> {
    const names = await readdir(this.processing).catch((error: unknown): string[] => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    });
    return names.sort().flatMap((entry) => {
      const cut = entry.indexOf(SEPARATOR);
      if (cut < 0) return [];
      return [{ runId: entry.slice(0, cut), name: entry.slice(cut + 1), path: join(this.processing, entry) }];
    });
  }

  /** Puts a file away, with the id of its run in its name. */
  async file({ runId, name, path }: ClaimedFile, into: 'done' | 'failed'): Promise<void> {
    const folder = join(this.folder, into);
    await mkdir(folder, { recursive: true });
    const dot = name.lastIndexOf('.');
    const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    await rename(path, join(folder, `${base}.${runId}${extension}`));
  }

  private get processing(): string {
    return join(this.folder, 'processing');
  }

  private isTaken(name: string): boolean {
    return this.pattern.test(name) && !name.startsWith('.') && !name.endsWith(MARKER);
  }

  /** The change time moves with every write, whatever a copying program does to the modification time. */
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
