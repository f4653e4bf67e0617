import { randomInt } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { DatabaseError } from '../engine/database-error.js';
import {
  FRAME_BYTES,
  InstallationFile,
  LOG_SALT_AT,
  isLaterSalt,
  positionOfFrame,
  statFile,
} from './installation-file.js';
import { createParentFolder, isLocked, loadDriver } from './sqlite-connection.js';

/** Suffixes of the checked files: the database, its write-ahead log, the index of the log, and the installation file. */
const FILES = ['', '-wal', '-shm', '-installation'] as const;
type Suffix = (typeof FILES)[number];
/** Suffixes of the files that contain a commit. */
const COMMIT_FILES: readonly Suffix[] = ['', '-wal'];

/** Time for which a start waits for a command that uses the database. */
const CLAIM_MILLIS = 5000;

/** State of the files after the last commit or checkpoint. Writers pass it on with the write lock. */
export interface FileStamp {
  inodes: Readonly<Record<Suffix, number>>;
  /** Number of frames in the log. */
  frames: number;
  /** True if the log contains commits that the database file does not contain. */
  isLogNeeded: boolean;
  size: number;
  /** Modification time of the database file in milliseconds, or `UNKNOWN_TIME` after an interrupted checkpoint. */
  mtime: number;
}
const UNKNOWN_TIME = -1;

/**
 * The files of an embedded database. Detects files that another program has deleted, replaced or overwritten, so that no
 * commit to them is acknowledged. Never opens the database file while SQLite has it open, because closing it would drop
 * SQLite's locks (ADR 41).
 */
export class DatabaseFiles {
  readonly installation: InstallationFile;
  /** Error of the first failed check. All later statements fail with it. */
  fault: DatabaseError | undefined;
  stamp: FileStamp | undefined;
  /** Reason if changes were lost before this process claimed the database. */
  loss: string | undefined;
  private onFault: (reason: string) => void = () => undefined;
  private claimed: DatabaseSync | undefined;
  private log = -1;
  private salt = 0;
  /** Number of frames in the log after the last commit of this process, and the last of these frames. */
  private frames = 0;
  private readonly lastFrame = Buffer.alloc(FRAME_BYTES);
  private readonly buffer = Buffer.alloc(FRAME_BYTES);

  constructor(private readonly file: string) {
    this.installation = new InstallationFile(file);
  }

  /**
   * Claims a database for this process. The claim is a lock on an additional SQLite file, so it ends with the process,
   * also after a crash.
   * @returns undefined if another process has claimed the database.
   */
  static claim(file: string): DatabaseFiles | undefined {
    createParentFolder(file);
    const { DatabaseSync } = loadDriver();
    const claimed = new DatabaseSync(`${file}-owner`, { timeout: CLAIM_MILLIS });
    try {
      claimed.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      claimed.close();
      if (isLocked(error)) return undefined;
      throw error;
    }
    const files = new DatabaseFiles(file);
    files.claimed = claimed;
    return files;
  }

  get isOwner(): boolean {
    return this.claimed !== undefined;
  }

  release(): void {
    this.claimed?.close();
    this.claimed = undefined;
  }

  /** Calls `onFault` with the reason when a check fails. */
  setFaultHandler(onFault: (reason: string) => void): void {
    this.onFault = onFault;
  }

  /** Starts the checks. Call it when SQLite has opened the database and its log. */
  startChecks(): void {
    if (!this.installation.read()) return;
    this.installation.linkLog();
    this.log = openSync(`${this.file}-wal`, 'r');
    this.salt = this.readSalt();
    const inodeOf = (suffix: Suffix) => [suffix, statFile(this.file + suffix)?.ino ?? 0];
    const inodes = Object.fromEntries(FILES.map(inodeOf)) as Record<Suffix, number>;
    this.stamp = { inodes, frames: 0, isLogNeeded: false, ...this.readFileState() };
  }

  /** Ends the checks. Call it before SQLite closes the database, which changes the files. */
  endChecks(): void {
    if (this.log >= 0) closeSync(this.log);
    this.log = -1;
    this.stamp = undefined;
  }

  /** Checks all files. @throws DatabaseError `replaced` if a file is no longer the one that SQLite has open. */
  assertUnchanged(): void {
    this.assertSame(FILES);
  }

  /**
   * Reads the last frame of the log before a transaction, unless this process has written it.
   * @param frames number of frames in the log.
   * @throws DatabaseError `replaced` if the index of the log was overwritten, so that SQLite would overwrite commits.
   */
  prepareCommit(frames: number): void {
    if (frames < (this.stamp?.frames ?? 0)) this.fail(`${this.file}-shm was overwritten.`);
    if (frames !== this.frames) this.setLastFrame(frames);
  }

  /**
   * Checks after a commit, before it is acknowledged, that the files contain it and all earlier commits. A commit after a
   * gap in the log would be lost at the next start.
   * @param frames number of frames in the log.
   * @throws DatabaseError `replaced` if a file was deleted, moved, replaced, shortened or overwritten.
   */
  recordCommit(frames: number): void {
    this.assertSame(COMMIT_FILES);
    const salt = this.readSalt();
    if (!this.stamp || frames === 0) return;
    const isRestarted = salt !== this.salt;
    if (isRestarted ? !isLaterSalt(this.salt, salt) : !this.isLastFrameSame())
      this.fail(`${this.file}-wal was shortened or overwritten.`);
    this.setLastFrame(frames);
    if (isRestarted || !this.stamp.isLogNeeded) this.installation.update({ salt, isLogNeeded: true });
    this.salt = salt;
    this.stamp.isLogNeeded = true;
    this.stamp.frames = frames;
  }

  /**
   * Records that a checkpoint begins to change the database file.
   * @param setVersion sets `user_version`, which the checkpoint then writes to the database file.
   */
  beginCheckpoint(setVersion: (version: number) => void): void {
    this.assertUnchanged();
    const { version = 0, pending: begun = 0 } = this.installation.current ?? {};
    if (begun === version) {
      const pending = randomInt(1, 2 ** 31);
      // The next start must accept both versions, also after a power failure.
      this.installation.update({ pending }, true);
      try {
        setVersion(pending);
      } catch {
        this.installation.update({ pending: version }); // on a full disk, the checkpoint must make space without a new version
      }
    }
    this.forgetStamp();
  }

  /**
   * Records the end of a checkpoint.
   * @param isComplete true if the database file contains the whole log.
   * @param frames number of frames in the log.
   */
  endCheckpoint(isComplete: boolean, frames: number): void {
    if (!this.stamp) return;
    this.stamp = { ...this.stamp, ...this.readFileState(), frames };
    if (!isComplete) return;
    this.stamp.isLogNeeded = false;
    this.installation.update({ version: this.installation.current?.pending ?? 0, isLogNeeded: false });
  }

  /** Marks the state as unknown, because a checkpoint may be interrupted. */
  forgetStamp(): void {
    if (this.stamp) this.stamp = { ...this.stamp, mtime: UNKNOWN_TIME, frames: 0 };
  }

  private assertSame(suffixes: readonly Suffix[]): void {
    if (this.fault) throw this.fault;
    const { stamp } = this;
    if (!stamp) return;
    for (const suffix of suffixes) {
      const stats = statFile(this.file + suffix);
      if (!stats) this.fail(`${this.file}${suffix} was deleted or moved.`);
      if (stats.ino !== stamp.inodes[suffix]) this.fail(`${this.file}${suffix} was replaced.`);
      if (suffix !== '' || stamp.mtime === UNKNOWN_TIME) continue;
      if (stats.size !== stamp.size || stats.mtimeMs !== stamp.mtime)
        this.fail(`${this.file} was overwritten.`);
    }
    if (stamp.mtime === UNKNOWN_TIME) Object.assign(stamp, this.readFileState());
  }

  private fail(reason: string): never {
    this.fault = new DatabaseError('replaced', new Error(reason));
    this.installation.restore();
    this.onFault(reason);
    throw this.fault;
  }

  private readFileState(): Pick<FileStamp, 'size' | 'mtime'> {
    const { size = 0, mtimeMs: mtime = 0 } = statFile(this.file) ?? {};
    return { size, mtime };
  }

  private readSalt(): number {
    return readSync(this.log, this.buffer, 0, 4, LOG_SALT_AT) < 4 ? 0 : this.buffer.readUInt32BE(0);
  }

  private setLastFrame(frames: number): void {
    this.frames = frames;
    if (frames > 0) readSync(this.log, this.lastFrame, 0, FRAME_BYTES, positionOfFrame(frames));
  }

  private isLastFrameSame(): boolean {
    if (this.frames === 0) return true;
    readSync(this.log, this.buffer, 0, FRAME_BYTES, positionOfFrame(this.frames));
    return this.buffer.equals(this.lastFrame);
  }
}
