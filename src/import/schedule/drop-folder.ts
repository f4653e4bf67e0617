import type { Stats } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { v7 as uuidv7 } from 'uuid';
import { errorCode } from '../../platform/common/errors.js';
import { matchesPattern } from '../runs/import-options.js';
import { HeldFolder, Refusal } from './held-folder.js';

/** A file counts as complete when it has not been written to for this long. */
const STABLE_MILLIS = 10_000;
const MARKER = '.done';
/** Between the run's id and the file's own name. */
const SEPARATOR = '~';
const CLAIMED = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}~/;
/** Limit of one file name in most file systems; a UUID and its separator use a part of it. */
const MAX_NAME_BYTES = 255;
const UUID_BYTES = 37;
/** Bytes read at a time. */
const CHUNK = 256 * 1024;

const PARTS = ['processing', 'done', 'failed'] as const;
type Part = (typeof PARTS)[number];

/** A file in the folder. One that is refused is left where it is. */
export interface WaitingFile {
  name: string;
  /** Whether it is complete. */
  ready: boolean;
  refused?: Refusal;
}

export interface ClaimedFile {
  runId: string;
  name: string;
  /** Its name in `processing/`. */
  entry: string;
}

/** The file was written to while it was read, so what was read may be a part of each version. */
export class ChangedFile extends Error {}

/**
 * The folder that files are dropped into. They move to `processing/`, then to `done/` or `failed/` of the work folder.
 * Only regular files are opened. Whoever may write to the folder may put anything there, at any moment.
 */
export class DropFolder {
  /** @param pattern file names in any case; `*` matches any characters and `?` one. */
  constructor(
    private readonly folder: string,
    private readonly pattern: string,
    private readonly workFolder = folder,
  ) {}

  /**
   * Makes a separate work folder, and moves an empty file there from the folder.
   * @throws Error when they are on different file systems; a system error when one of them cannot be used.
   */
  async prepare(): Promise<void> {
    if (this.workFolder === this.folder) return;
    await mkdir(this.workFolder, { recursive: true, mode: 0o700 });
    const probe = `.rollcall-${uuidv7()}`;
    await this.between('processing', async (drop, processing) => {
      await (await open(drop.at(probe), 'wx')).close();
      try {
        await rename(drop.at(probe), processing.at(probe));
        await unlink(processing.at(probe));
      } catch (error) {
        await unlink(drop.at(probe));
        if (errorCode(error) !== 'EXDEV') throw error;
        throw new Error(
          'IMPORT_WORK_FOLDER must be on the same file system as IMPORT_FOLDER (the same volume or mount in a ' +
            'container), because files move between them in one step.',
          { cause: error },
        );
      }
    });
  }

  /** The files to import and those that are refused, in the order of their names. */
  async *waiting(): AsyncGenerator<WaitingFile> {
    const drop = await HeldFolder.open(this.folder, { links: true });
    try {
      for await (const name of drop.names((each) => this.matches(each))) {
        const file = await this.lookAt(drop, name);
        if (file) yield file;
      }
    } finally {
      await drop.close();
    }
  }

  /** Moves a file to `processing/`; of a long name the end is kept. @returns undefined when another process was faster. */
  async claim(name: string, runId: string): Promise<ClaimedFile | undefined> {
    const kept = ending(name, MAX_NAME_BYTES - UUID_BYTES);
    const entry = runId + SEPARATOR + kept;
    return this.between('processing', async (drop, processing) => {
      // Before the file: a marker that outlives its file would declare an incomplete next one complete.
      if (await hasMarker(drop, name)) await unlink(drop.at(name + MARKER));
      try {
        await rename(drop.at(name), processing.at(entry));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return undefined;
        throw error;
      }
      return { runId, name: kept, entry };
    });
  }

  /** The files in `processing/` and what is refused there, in the order of their runs' ids. */
  async *claimed(): AsyncGenerator<ClaimedFile & WaitingFile> {
    const processing = await this.openPart('processing').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (!processing) return;
    try {
      for await (const entry of processing.names((each) => !each.startsWith('.'))) {
        const file = { runId: entry.slice(0, UUID_BYTES - 1), name: entry.slice(UUID_BYTES), entry };
        const found = CLAIMED.test(entry)
          ? await lookedAt(processing, entry)
          : new Refusal(entry, 'not from this service');
        if (found instanceof Refusal) yield { ...file, ready: false, refused: found };
        else if (found) yield { ...file, ready: isStable(found) };
      }
    } finally {
      await processing.close();
    }
  }

  /**
   * The bytes of a claimed file, through the one descriptor that was checked.
   * @throws Refusal when it is no regular file; ChangedFile at the end when it was written to; the reason of `signal`.
   */
  async *read({ entry }: ClaimedFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const handle = await this.within('processing', (processing) => processing.openFile(entry));
    try {
      const before = await handle.stat();
      for (let position = 0; ;) {
        signal.throwIfAborted();
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
      const after = await handle.stat();
      if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) throw new ChangedFile();
    } finally {
      await handle.close();
    }
  }

  /** Moves a claimed file to `done/` or `failed/`, with the id of its run in its name. */
  async archive({ runId, name, entry }: ClaimedFile, into: 'done' | 'failed'): Promise<void> {
    const dot = name.lastIndexOf('.');
    const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    await this.within('processing', (processing) =>
      this.within(into, (archive) =>
        rename(processing.at(entry), archive.at(`${base}.${runId}${extension}`)),
      ),
    );
  }

  private async lookAt(drop: HeldFolder, name: string): Promise<WaitingFile | undefined> {
    const found = await lookedAt(drop, name);
    if (!found) return undefined;
    if (found instanceof Refusal) return { name, ready: false, refused: found };
    return { name, ready: isStable(found) || (await hasMarker(drop, name)) };
  }

  private matches(name: string): boolean {
    const isPart = this.workFolder === this.folder && PARTS.some((part) => part === name);
    return matchesPattern(this.pattern, name) && !name.startsWith('.') && !name.endsWith(MARKER) && !isPart;
  }

  /** The folder and a part of the work folder, which is made where it is missing. */
  private async between<T>(part: Part, work: (drop: HeldFolder, part: HeldFolder) => Promise<T>): Promise<T> {
    return HeldFolder.use(this.folder, { links: true }, (drop) =>
      this.within(part, (folder) => work(drop, folder)),
    );
  }

  private async within<T>(part: Part, work: (folder: HeldFolder) => Promise<T>): Promise<T> {
    const folder = await this.openPart(part, true);
    try {
      return await work(folder);
    } finally {
      await folder.close();
    }
  }

  /** A link in the place of a part would lead files, or what is read, to somewhere else. */
  private async openPart(part: Part, make = false): Promise<HeldFolder> {
    return HeldFolder.use(this.workFolder, { links: true }, async (parent) => {
      if (make) {
        await mkdir(parent.at(part)).catch((error: unknown) => {
          if (errorCode(error) !== 'EEXIST') throw error;
        });
      }
      return HeldFolder.open(parent.at(part), { links: false });
    });
  }
}

/** @returns undefined when the name is gone. */
async function lookedAt(folder: HeldFolder, name: string): Promise<Stats | Refusal | undefined> {
  try {
    return await folder.look(name);
  } catch (error) {
    if (error instanceof Refusal) return error;
    if (errorCode(error) !== 'ENOENT')
      return new Refusal(name, `out of reach (${errorCode(error) ?? 'error'})`);
    return name.includes('\ufffd') ? new Refusal(name, 'a file whose name is not UTF-8') : undefined;
  }
}

async function hasMarker(folder: HeldFolder, name: string): Promise<boolean> {
  const stats = await lstat(folder.at(name + MARKER)).catch(() => undefined);
  return stats?.isFile() === true;
}

/** Whether it was not written to for STABLE_MILLIS. Copying programs may set the modification time, not the change time. */
const isStable = ({ mtimeMs, ctimeMs }: Stats): boolean =>
  Date.now() - Math.max(mtimeMs, ctimeMs) >= STABLE_MILLIS;

function ending(name: string, bytes: number): string {
  const characters = Array.from(name);
  while (Buffer.byteLength(characters.join('')) > bytes) characters.shift();
  return characters.join('');
}
