import { randomInt } from 'node:crypto';
import { type Stats, closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DatabaseError } from '../engine/database-error.js';
import {
  InstallationFile,
  type InstallationRecord,
  VERSION_AT,
  isLaterSalt,
  statFile,
} from './installation-file.js';
import { type Checksum, INDEX, LogFrames, isSameChecksum, positionInIndex } from './log-frames.js';
import { createParentFolder, isLocked, loadDriver } from './sqlite-connection.js';

/**
 * Suffixes of the checked files: the database, its write-ahead log, the index of the log, the installation file, and the
 * claim.
 */
const FILES = ['', '-wal', '-shm', '-installation', '-owner'] as const;
type Suffix = (typeof FILES)[number];

/** Time in milliseconds for which a check of the files stays valid. */
const CHECK_MILLIS = 2;
/** Minimum age of the folder's change time, in milliseconds, at which a later change gets a different time. */
const SETTLED_MILLIS = 20;

/** State of the log, from its index. */
export interface LogState {
  /** Number of frames in the log. */
  frames: number;
  /** Number of frames that the database file contains. */
  checkpointed: number;
  /** Number that changes when SQLite restarts the log. */
  salt: number;
  /** Checksum of the last frame. It depends on all frames before it. */
  checksum: Checksum;
}

/** Time for which a start waits for a command that uses the database. */
const CLAIM_MILLIS = 5000;

/** State of the files after the last commit or checkpoint. Writers pass it on with the write lock. */
export interface FileStamp extends Pick<LogState, 'salt' | 'checksum'> {
  /** Device and inode of each file. */
  identities: Readonly<Record<Suffix, string | undefined>>;
  /** Content of the installation file. */
  record: InstallationRecord;
  /** Number of frames in the log, or 0 if it is unknown. */
  frames: number;
  size: number;
  /** Modification time of the database file in milliseconds, or `UNKNOWN_TIME` after an interrupted checkpoint. */
  mtime: number;
}
const UNKNOWN_TIME = -1;

/**
 * The files of an embedded database. Detects files that another program has deleted, replaced or overwritten, so that no
 * commit to them is acknowledged. Never closes the database file while SQLite has it open, because this would drop
 * SQLite's locks (ADR 41).
 */
export class DatabaseFiles {
  readonly installation: InstallationFile;
  /** Error of the first failed check. All later statements fail with it. */
  fault: DatabaseError | undefined;
  stamp: FileStamp | undefined;
  /** Reason if changes were lost before this process claimed the database. */
  loss: string | undefined;
  /** Called with the reason when a check fails. */
  onFault: (reason: string) => void = () => undefined;
  private claimed: DatabaseSync | undefined;
  private log: LogFrames | undefined;
  private index = -1;
  private database = -1;
  /** Change time of the folder when the log's inode was last checked. `UNKNOWN_TIME` if the folder had just changed. */
  private folderTime = UNKNOWN_TIME;
  private nextCheck = 0;
  private readonly indexBytes = Buffer.alloc(INDEX.checkpointedAt + 4);
  private readonly file: string;

  constructor(file: string) {
    this.file = resolveLinks(file);
    this.installation = new InstallationFile(this.file);
  }

  /**
   * Claims a database for this process. The claim is a lock on an additional SQLite file, so it ends with the process,
   * also after a crash.
   * @returns undefined if another process has claimed the database.
   */
  static claim(file: string): DatabaseFiles | undefined {
    createParentFolder(file);
    const files = new DatabaseFiles(file);
    const { DatabaseSync } = loadDriver();
    const claimed = new DatabaseSync(`${files.file}-owner`, { timeout: CLAIM_MILLIS });
    try {
      claimed.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      claimed.close();
      if (isLocked(error)) return undefined;
      throw error;
    }
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

  /**
   * Starts the checks. Call it when SQLite has opened the database and its log.
   * @param userVersion the `user_version` of the opened database.
   * @throws DatabaseError `replaced` if the database file was replaced since the installation file was read.
   */
  startChecks(userVersion: number): void {
    const record = this.installation.read();
    if (!record) return;
    this.installation.linkLog();
    this.log = new LogFrames(`${this.file}-wal`);
    this.index = openSync(`${this.file}-shm`, 'r');
    this.database = openSync(this.file, 'r');
    const isKnown = (version: number | undefined) => version === record.version || version === record.pending;
    if (this.isOwner && !(isKnown(userVersion) && isKnown(this.readVersion())))
      this.fail(`${this.file} was replaced.`);
    const { salt } = this.readLogState();
    const identified = FILES.map((suffix) => [suffix, identityOf(statFile(this.file + suffix))]);
    const identities = Object.fromEntries(identified) as FileStamp['identities'];
    const state = this.readFileState();
    this.stamp = { identities, record, frames: 0, salt, checksum: [0, 0], ...state };
  }

  /** Ends the checks. Call it before SQLite closes the database, because closing changes the files. */
  endChecks(): void {
    this.stamp = undefined;
  }

  /**
   * Closes the files and records the closed database. Call it after SQLite has closed the database, because closing a
   * file earlier drops SQLite's locks.
   */
  recordClosed(): void {
    this.log?.close();
    if (this.log) for (const opened of [this.index, this.database]) closeSync(opened);
    this.log = undefined;
    this.installation.recordClosed();
  }

  /** Reads the state of the log. Other processes change it only under the write lock. */
  readLogState(): LogState {
    const bytes = this.readIndex(0, INDEX.checkpointedAt + 4);
    return {
      frames: bytes.readUInt32LE(INDEX.framesAt),
      checkpointed: bytes.readUInt32LE(INDEX.checkpointedAt),
      salt: bytes.readUInt32BE(INDEX.saltAt),
      checksum: [bytes.readUInt32LE(INDEX.checksumAt), bytes.readUInt32LE(INDEX.checksumAt + 4)],
    };
  }

  private readIndex(position: number, length: number): Buffer {
    if (readSync(this.index, this.indexBytes, 0, length, position) < length) this.failForChangedIndex();
    return this.indexBytes;
  }

  /**
   * Checks that the index of the log is not an older copy. SQLite would overwrite commits with an older index.
   * @throws DatabaseError `replaced` if the index is an older copy.
   */
  assertIndexUnchanged({ frames, salt, checksum }: LogState): void {
    const { stamp } = this;
    if (!stamp || stamp.frames === 0) return;
    const isSame = frames === stamp.frames && isSameChecksum(checksum, stamp.checksum);
    if (salt === stamp.salt ? isSame || frames > stamp.frames : isLaterSalt(stamp.salt, salt)) return;
    this.failForChangedIndex();
  }

  /**
   * Checks after a commit, before it is acknowledged, that the files contain it and all earlier commits. A commit after a
   * gap in the log would be lost at the next start.
   * @throws DatabaseError `replaced` if a file was deleted, moved, replaced, shortened or overwritten.
   */
  recordCommit(state: LogState): void {
    const { stamp } = this;
    const { frames, salt, checksum } = state;
    if (!stamp || frames === 0) return;
    this.assertIndexUnchanged(state);
    const isRestarted = salt !== stamp.salt;
    if (!isRestarted) this.assertLastFrameUnchanged();
    if (isRestarted || performance.now() >= this.nextCheck) this.checkFiles(salt);
    this.stamp = { ...stamp, frames, salt, checksum };
    if (salt !== stamp.record.salt || !stamp.record.isLogNeeded)
      this.updateRecord({ salt, isLogNeeded: true });
  }

  /**
   * Records that a checkpoint begins to change the database file.
   * @param setVersion sets `user_version`, which the checkpoint then writes to the database file.
   * @throws DatabaseError `replaced` if a file was replaced or overwritten since the last commit.
   */
  beginCheckpoint(state: LogState, setVersion: (version: number) => void): void {
    this.assertUnchanged();
    this.assertIndexUnchanged(state);
    this.assertLastFrameUnchanged();
    if (state.frames > 0) this.checkFiles(state.salt);
    if (!this.stamp) return;
    const { version, pending: begun } = this.stamp.record;
    if (begun === version) {
      const pending = randomInt(1, 2 ** 31);
      // The next start must accept both versions, also after a power failure.
      this.updateRecord({ pending }, true);
      try {
        setVersion(pending);
      } catch {
        this.updateRecord({ pending: version }); // a checkpoint on a full disk must work without a new version
      }
    }
    const { frames, salt, checksum } = this.readLogState();
    // The time of the database file stays unknown if the checkpoint is interrupted.
    this.stamp = { ...this.stamp, frames, salt, checksum, mtime: UNKNOWN_TIME };
  }

  /**
   * Records the end of a checkpoint, which may not be complete.
   * @throws DatabaseError `replaced` if a file was overwritten during the checkpoint.
   */
  endCheckpoint(state: LogState): void {
    if (!this.stamp) return;
    const { frames, checkpointed, salt, checksum } = state;
    this.assertIndexUnchanged(state);
    if (salt === this.stamp.salt) this.assertLastFrameUnchanged();
    const { version, pending } = this.stamp.record;
    const isComplete = checkpointed === frames;
    const stored = this.readVersion();
    if (stored !== pending && (isComplete || stored !== version)) this.fail(`${this.file} was overwritten.`);
    this.stamp = { ...this.stamp, ...this.readFileState(), frames, salt, checksum };
    if (isComplete) this.updateRecord({ version: pending, isLogNeeded: false });
  }

  private updateRecord(changes: Partial<InstallationRecord>, flush = false): void {
    if (!this.stamp) return;
    const record = { ...this.stamp.record, ...changes };
    this.stamp = { ...this.stamp, record };
    this.installation.write(record, flush);
  }

  /** Marks the state as unknown, because a checkpoint may be interrupted. */
  forgetStamp(): void {
    if (!this.stamp) return;
    const record = this.installation.read() ?? this.stamp.record;
    this.stamp = { ...this.stamp, record, mtime: UNKNOWN_TIME, frames: 0 };
  }

  /**
   * Checks files, by default all of them. Rewrites the installation file if its content was changed.
   * @throws DatabaseError `replaced` if a file is no longer the one that SQLite has open.
   */
  assertUnchanged(suffixes: readonly Suffix[] = FILES): void {
    if (this.fault) throw this.fault;
    const { stamp } = this;
    if (!stamp) return;
    for (const suffix of suffixes) {
      const stats = statFile(this.file + suffix);
      if (!stats) this.fail(`${this.file}${suffix} was deleted or moved.`);
      if (identityOf(stats) !== stamp.identities[suffix]) this.fail(`${this.file}${suffix} was replaced.`);
      if (suffix !== '' || stamp.mtime === UNKNOWN_TIME) continue;
      if (stats.size !== stamp.size || stats.mtimeMs !== stamp.mtime)
        this.fail(`${this.file} was overwritten.`);
    }
    if (stamp.mtime === UNKNOWN_TIME) Object.assign(stamp, this.readFileState());
    this.installation.restore(stamp.record);
  }

  /** Checks the database file and the salt of the log. Checks all files if the folder has changed. */
  private checkFiles(salt: number): void {
    this.nextCheck = performance.now() + CHECK_MILLIS;
    this.assertUnchanged(this.isFolderSame() ? [''] : FILES);
    if (this.log?.readSalt() !== salt) this.failForChangedLog();
  }

  /**
   * Returns true if no file of the folder was created, deleted or renamed since the last check. A `stat` of the log at each
   * check would cost ten times as much, because Linux then writes the log's inode at each sync.
   */
  private isFolderSame(): boolean {
    const { ctimeMs: time = UNKNOWN_TIME } = statFile(dirname(this.file)) ?? {};
    const isSame = time === this.folderTime && time !== UNKNOWN_TIME;
    // A second change within a tick of the clock would have the same time.
    this.folderTime = Date.now() - time > SETTLED_MILLIS ? time : UNKNOWN_TIME;
    return isSame;
  }

  private failForChangedLog(): never {
    return this.fail(`${this.file}-wal was shortened or overwritten.`);
  }

  private failForChangedIndex(): never {
    return this.fail(`${this.file}-shm was shortened or overwritten.`);
  }

  private fail(reason: string): never {
    this.fault = new DatabaseError('replaced', new Error(reason));
    this.onFault(reason);
    if (this.stamp) this.installation.restore(this.stamp.record);
    throw this.fault;
  }

  private readVersion(): number | undefined {
    const isRead = readSync(this.database, this.indexBytes, 0, 4, VERSION_AT) === 4;
    return isRead ? this.indexBytes.readUInt32BE(0) : undefined;
  }

  private readFileState(): Pick<FileStamp, 'size' | 'mtime'> {
    const { size = 0, mtimeMs: mtime = 0 } = statFile(this.file) ?? {};
    return { size, mtime };
  }

  /** Checks that the last frame of the stamp still has its checksum, and that the index still contains its page. */
  private assertLastFrameUnchanged(): void {
    const { stamp } = this;
    if (!stamp || stamp.frames === 0) return;
    const frame = this.log?.readFrame(stamp.frames);
    if (!frame || !isSameChecksum(frame.checksum, stamp.checksum)) this.failForChangedLog();
    if (this.readIndex(positionInIndex(stamp.frames), 4).readUInt32LE(0) !== frame.page)
      this.failForChangedIndex();
  }
}

const identityOf = (stats: Stats | undefined): string | undefined => stats && `${stats.dev}:${stats.ino}`;

/** Returns the path without symbolic links, as SQLite resolves it. The log is in the folder of the real file. */
const resolveLinks = (file: string): string =>
  existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
