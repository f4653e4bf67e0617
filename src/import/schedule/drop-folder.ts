import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, opendir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createDraftPath, syncFolder, toDraftName } from '../../platform/common/draft-file.js';
import { errorCodeOf } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/secrets.js';
import { ChangeWatch } from '../../platform/database/leases/change-watch.js';
import type { StoredFile } from '../file/file-store.js';
import { matchesPattern } from '../runs/import-options.js';
import { OpenFolder, EntryError } from './open-folder.js';

/** Time without a change after which a file counts as complete. */
const STABLE_MILLIS = 10_000;
export const MARKER = '.done';
const SEPARATOR = '~';
const PROCESSING_NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}~/;
/** Maximum length of a file name in most file systems. */
export const MAX_NAME_BYTES = 255;
/** Length of the id of a run and its separator at the start of a file name. */
const UUID_BYTES = 37;
const CHUNK = 256 * 1024;

/** Subfolders of the work folder, one per stage of an import. */
const STAGES = ['processing', 'done', 'failed'] as const;
type Stage = (typeof STAGES)[number];

/** A file in a folder. A file with a `rejection` is not imported and stays in the folder. */
export interface FolderFile {
  name: string;
  isComplete: boolean;
  rejection?: EntryError;
  /** Missing for a file with a `rejection`. */
  stats?: Stats;
}

/** A file in `processing/`. `entry` is its name there, which begins with the id of its run. */
export interface ProcessingFile {
  runId: string;
  name: string;
  entry: string;
}

/** Thrown if a file has changed during reading, so that its content may be a mix of two versions. */
export class FileChangedError extends Error {
  override message = 'still being written';
}

/**
 * The drop folder. Its files move to `processing/`, and later to `done/` or `failed/`, which are subfolders of the work
 * folder. Opens only regular files, because other programs can write to the drop folder.
 */
export class DropFolder {
  private readonly futureChanges = new ChangeWatch();
  /** Id of the file system of the drop folder at the first successful `check`. */
  private device: number | undefined;

  /** @param pattern pattern of the names of files to import (`matchesPattern`). */
  constructor(
    private readonly folder: string,
    private readonly pattern: string,
    private readonly workFolder = folder,
  ) {}

  /**
   * Checks that the drop folder and the work folder can be read, and creates missing subfolders of the work folder.
   * @param isNew true if the work folder was never used. Otherwise, a work folder without any subfolder is an empty
   * mount point, in which nothing is created.
   * @throws EntryError if another folder has replaced the drop folder or the work folder, or a system error.
   */
  async check(isNew: boolean): Promise<void> {
    await using drop = await this.openDropFolder();
    const entries = await opendir(drop.pathOf('.'));
    await entries.read();
    await entries.close();
    const { dev } = await stat(drop.pathOf('.'));
    if (dev !== (this.device ?? dev))
      throw new EntryError(this.folder, 'on another file system than at the start of the service');
    if (isNew) await mkdir(this.workFolder, { recursive: true, mode: 0o700 });
    await using work = await OpenFolder.open(this.workFolder, { allowsLink: true });
    const stages = STAGES.map((stage) => work.pathOf(stage));
    const found = await Promise.all(stages.map((path) => lstat(path).catch(ignoreMissing)));
    if (!isNew && !found.some(Boolean))
      throw new EntryError(this.workFolder, 'not mounted or new. If it is new, create processing in it');
    for (const path of stages) await mkdir(path, { recursive: true });
    this.device = dev;
  }

  /**
   * Deletes abandoned drafts in the drop folder. Moves an empty file from there to the work folder as a test, unless both
   * are the same folder.
   * @throws Error if the folders are on different file systems, or a system error if one of them cannot be used.
   */
  async probeWorkFolder(): Promise<void> {
    await using drop = await this.openDropFolder();
    const probe = createDraftPath(drop.pathOf('.'));
    if (this.workFolder === this.folder) return;
    await using processing = await this.openStage('processing');
    const moved = createDraftPath(processing.pathOf('.'));
    await (await open(probe, 'wx')).close();
    try {
      await rename(probe, moved);
      await unlink(moved);
    } catch (error) {
      await unlink(probe);
      if (errorCodeOf(error) !== 'EXDEV') throw error;
      throw new Error(
        'IMPORT_WORK_FOLDER must be on the same file system as IMPORT_FOLDER (the same volume or mount in a ' +
          'container), because files move between them in one step.',
        { cause: error },
      );
    }
  }

  /**
   * Yields the files in the drop folder, sorted by name. Includes files with a `rejection`.
   * @param accept by default, only names that match the pattern.
   */
  async *listDropped(accept = this.matches.bind(this)): AsyncGenerator<FolderFile> {
    await using drop = await this.openDropFolder();
    for await (const name of drop.listNames(accept)) {
      const found = this.matches(name)
        ? await inspectFile(drop, name)
        : new EntryError(name, `the name does not match ${this.pattern} (IMPORT_PATTERN)`);
      if (found instanceof EntryError) yield { name, isComplete: false, rejection: found };
      else if (found) {
        const isComplete = this.isStable(name, found) || (await hasMarker(drop, name));
        yield { name, isComplete, stats: found };
      }
    }
  }

  /** Returns false for the names of markers, temporary files and subfolders, which are never imported. */
  isFileName(name: string): boolean {
    const isOwn = this.workFolder === this.folder && STAGES.some((each) => each === name);
    return !name.startsWith('.') && !name.endsWith(MARKER) && !isOwn;
  }

  matches(name: string): boolean {
    return matchesPattern(this.pattern, name) && this.isFileName(name);
  }

  /**
   * Writes a draft to the drop folder, whose hidden name the schedule ignores. After an error, no draft is left.
   * @param id part of the name of the draft, in hexadecimal.
   */
  async writeDraft(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await using drop = await this.openDropFolder();
    const draft = drop.pathOf(toDraftName(id));
    await using file = await open(draft, 'wx');
    try {
      for await (const chunk of bytes) await file.writeFile(chunk);
      await file.sync();
    } catch (error) {
      await unlink(draft);
      throw error;
    }
  }

  /**
   * Gives a draft its final name, with a marker because the file is complete. Continues an attempt that was killed.
   * @param token identifies the request in all its attempts, in hexadecimal.
   * @returns a function that deletes the file, unless the file was taken or an earlier attempt had already placed it.
   * @throws a system error `EEXIST` if another file has this name.
   */
  async publishDraft(file: StoredFile, token: string): Promise<() => Promise<void>> {
    const { runId, name, sha256: checksum } = file;
    const [noteName, mark] = [`.${token}`, sha256(token)];
    await using drop = await this.openDropFolder();
    const [draft, path] = [drop.pathOf(toDraftName(runId)), drop.pathOf(name)];
    const note = drop.pathOf(noteName);
    const isRepeated = (await hasBytes(drop, noteName, mark)) || (await hasBytes(drop, name + MARKER, mark));
    // An earlier attempt may have been killed after it reserved the name with an empty file.
    const isPlaced = isRepeated && (await hasBytes(drop, name, checksum, sha256('')));
    const { ino } = await lstat(draft);
    // The note shows a later attempt that this request placed the file. Then it becomes the marker. A marker must not
    // exist before its file, because it would apply to the file of another sender.
    await writeFile(note, token, { flush: true });
    try {
      // An empty file reserves the name, because `rename` would replace the file of another sender.
      if (!isPlaced) await (await open(path, 'wx')).close();
      await rename(draft, path);
      // Without a marker, the file is complete after STABLE_MILLIS.
      await rename(note, path + MARKER).catch(() => undefined);
    } finally {
      // A note that stays is hidden, so the schedule ignores it.
      await unlink(note).catch(() => undefined);
    }
    // The file of an earlier attempt stays, because that attempt may still succeed.
    const undo = isPlaced ? () => Promise.resolve() : () => this.withdraw(name, ino);
    try {
      await syncFolder(drop.pathOf('.'));
      return undo;
    } catch (error) {
      await undo();
      throw error;
    }
  }

  private async withdraw(name: string, inode: number): Promise<void> {
    await using drop = await this.openDropFolder();
    const path = drop.pathOf(name);
    if ((await lstat(path).catch(ignoreMissing))?.ino !== inode) return;
    for (const each of [path + MARKER, path]) await unlink(each).catch(ignoreMissing);
  }

  async deleteDraft(id: string): Promise<void> {
    await using drop = await this.openDropFolder();
    await unlink(drop.pathOf(toDraftName(id))).catch(ignoreMissing);
  }

  /**
   * Moves a file to `processing/` and puts the id of its run before its name. Cuts off the beginning of a name that is
   * too long.
   * @returns undefined if the file no longer exists.
   */
  async moveToProcessing(name: string, runId: string): Promise<ProcessingFile | undefined> {
    const shortName = truncateAtStart(name, MAX_NAME_BYTES - UUID_BYTES);
    const entry = runId + SEPARATOR + shortName;
    await using drop = await this.openDropFolder();
    await using processing = await this.openStage('processing');
    // Delete the marker first. Otherwise, a later file with the same name would count as complete too early.
    if (await hasMarker(drop, name)) await unlink(drop.pathOf(name + MARKER));
    const moving = rename(drop.pathOf(name), processing.pathOf(entry));
    return await moving.then(() => ({ runId, name: shortName, entry }), ignoreMissing);
  }

  async *listProcessing(): AsyncGenerator<ProcessingFile & FolderFile> {
    await using processing = await this.openStage('processing');
    for await (const entry of processing.listNames((each) => !each.startsWith('.'))) {
      const file = { runId: entry.slice(0, UUID_BYTES - 1), name: entry.slice(UUID_BYTES), entry };
      const found = PROCESSING_NAME.test(entry)
        ? await inspectFile(processing, entry)
        : new EntryError(entry, 'not a file that this service stored');
      if (found instanceof EntryError) yield { ...file, isComplete: false, rejection: found };
      else if (found) yield { ...file, isComplete: this.isStable(entry, found) };
    }
  }

  /**
   * Yields the bytes of a file in `processing/`.
   * @throws EntryError for anything but a regular file, FileChangedError at the end if the file has changed, or the
   * abort reason of `signal`.
   */
  async *read({ entry }: ProcessingFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    await using processing = await this.openStage('processing');
    await using handle = await processing.openFile(entry);
    const before = await handle.stat();
    for (let position = 0; ;) {
      signal.throwIfAborted();
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    const after = await handle.stat();
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) throw new FileChangedError();
  }

  /** Moves a file from `processing/` to `done/` or `failed/` and adds the id of its run to its name. */
  async archive({ runId, name, entry }: ProcessingFile, stage: 'done' | 'failed'): Promise<void> {
    const dot = name.lastIndexOf('.');
    const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
    await using processing = await this.openStage('processing');
    await using archive = await this.openStage(stage);
    await rename(processing.pathOf(entry), archive.pathOf(`${base}.${runId}${extension}`));
  }

  /**
   * Returns true if a file has not changed for STABLE_MILLIS. Checks the change time too, because copy programs can set
   * an old modification time. If the change is in the future, measures from the first call for this change.
   */
  private isStable(name: string, { mtimeMs, ctimeMs }: Stats): boolean {
    const changed = Math.max(mtimeMs, ctimeMs);
    if (changed <= Date.now()) return Date.now() - changed >= STABLE_MILLIS;
    return this.futureChanges.hasStopped(name, String(changed), STABLE_MILLIS / 1000);
  }

  private openDropFolder(): Promise<OpenFolder> {
    return OpenFolder.open(this.folder, { allowsLink: true });
  }

  /** Opens a subfolder of the work folder. Rejects a symbolic link, which could redirect files. */
  private async openStage(stage: Stage): Promise<OpenFolder> {
    await using work = await OpenFolder.open(this.workFolder, { allowsLink: true });
    return await OpenFolder.open(work.pathOf(stage), { allowsLink: false });
  }
}

/** Returns the status of a file, an error if the file must be rejected, or undefined if the file was removed. */
async function inspectFile(folder: OpenFolder, name: string): Promise<Stats | EntryError | undefined> {
  try {
    return await folder.inspect(name);
  } catch (error) {
    if (error instanceof EntryError) return error;
    if (errorCodeOf(error) !== 'ENOENT')
      return new EntryError(name, `not accessible (${errorCodeOf(error) ?? 'error'})`);
    return name.includes('\ufffd') ? new EntryError(name, 'a file whose name is not UTF-8') : undefined;
  }
}

/** Returns undefined for the error of a missing file. Throws other errors. */
function ignoreMissing(error: unknown): undefined {
  if (errorCodeOf(error) !== 'ENOENT') throw error;
}

async function hasMarker(folder: OpenFolder, name: string): Promise<boolean> {
  const stats = await lstat(folder.pathOf(name + MARKER)).catch(() => undefined);
  return stats?.isFile() === true;
}

/** Returns true for a regular file with one of these SHA-256 checksums. */
async function hasBytes(folder: OpenFolder, name: string, ...checksums: string[]): Promise<boolean> {
  try {
    await using file = await folder.openFile(name);
    const hash = createHash('sha256');
    await pipeline(file.createReadStream({ autoClose: false }), hash);
    return checksums.includes(hash.digest('hex'));
  } catch {
    return false;
  }
}

function truncateAtStart(name: string, bytes: number): string {
  const characters = Array.from(name);
  while (Buffer.byteLength(characters.join('')) > bytes) characters.shift();
  return characters.join('');
}
