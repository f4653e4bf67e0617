import { randomInt } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { DatabaseError, toDatabaseError } from '../engine/database-error.js';
import { createParentFolder, isLocked, loadDriver } from './sqlite-connection.js';

/** Suffixes of the checked files: the database, its write-ahead log, the index of the log, and the installation file. */
const FILES = ['', '-wal', '-shm', '-installation'] as const;
type Suffix = (typeof FILES)[number];
/** Suffixes of the files that contain a commit. */
const COMMIT_FILES: readonly Suffix[] = ['', '-wal'];

/** Time for which a start waits for a command that uses the database. */
const CLAIM_MILLIS = 2000;

// Formats of SQLite's files (sqlite.org/fileformat.html). Numbers are big-endian and have four bytes.
const VERSION_AT = 60;
const LOG_HEADER_BYTES = 32;
const LOG_SALT_AT = 16;
const FRAME_SALT_AT = 8;
/** The index of the log begins with two equal headers. Its numbers are little-endian, except for the salt. */
const INDEX = { headerBytes: 48, framesAt: 16, saltAt: 32, checkpointedAt: 96 };
const FRAME_BYTES = 24 + 4096;
/** SQLite adds 1 to the salt each time it restarts the log. A salt that differs by more belongs to another log. */
const MAX_SALT_STEPS = 1 << 24;

/** Position and length of the second line of the installation file. */
const LOG_LINE = { at: 256, bytes: 64 };

/** Id and epoch of an installation, as in the table `installation`. */
export interface InstallationId {
  id: string;
  epoch: number;
}

/** First line of the installation file. */
interface CheckpointLine extends InstallationId {
  /** `user_version` of the database file, a random number that each checkpoint changes. */
  version: number;
  /** `user_version` after a checkpoint that may not be complete, otherwise the same as `version`. */
  pending: number;
}

/** Second line of the installation file. */
interface LogLine {
  /** Salt of the log, or 0 without a log. */
  salt: number;
  /** True if the log contains commits that the database file does not contain. */
  isNeeded: boolean;
}

/** State of the files after the last checkpoint. Writers pass it on with the write lock. */
export interface FileStamp {
  inodes: Readonly<Record<Suffix, number>>;
  size: number;
  /** Number of frames in the log after the last commit or checkpoint. */
  frames: number;
  /** True if the log contains commits that the database file does not contain. */
  isLogNeeded: boolean;
  /** Modification time of the database file in milliseconds, or `UNKNOWN_TIME` after an interrupted checkpoint. */
  mtime: number;
}
const UNKNOWN_TIME = -1;

/** Thrown if the files are not those of the installation, or are in use. The message says what to do. */
export class InstallationError extends Error {}

/**
 * The files of an embedded database. Detects files that another program has deleted, replaced or overwritten, so that
 * no commit to them is acknowledged. Never opens the database file while SQLite has it open, because closing it would
 * drop SQLite's locks.
 *
 * The installation file, beside the database file, contains what the next start needs to detect lost changes (ADR 41).
 */
export class DatabaseFiles {
  /** Error of the first failed check. All later statements fail with it. */
  fault: DatabaseError | undefined;
  stamp: FileStamp | undefined;
  /** Reason why changes are lost, if `findLoss` has found one. */
  loss: string | undefined;
  private onFault: (reason: string) => void = () => undefined;
  private claimed: DatabaseSync | undefined;
  private log = -1;
  private installation = -1;
  private salt = 0;
  /** Number of frames in the log after the last commit of this process, and the last of these frames. */
  private frames = 0;
  private readonly lastFrame = Buffer.alloc(FRAME_BYTES);
  private readonly frame = Buffer.alloc(FRAME_BYTES);

  constructor(private readonly file: string) {}

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
      claimed.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
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

  /** True if the database file of a known installation is missing or empty. */
  get isMissing(): boolean {
    return this.known !== undefined && readNumber(this.file, VERSION_AT) === undefined;
  }

  /** Calls `onFault` with the reason when a check fails for the first time. */
  setFaultHandler(onFault: (reason: string) => void): void {
    this.onFault = onFault;
  }

  /**
   * Compares the closed files with the installation file, and sets `loss`. Renames a log that does not belong to the
   * database file, because SQLite would apply it to that file.
   * @throws InstallationError if the database file is missing or empty.
   */
  findLoss(): void {
    const expected = this.readInstallationFile();
    if (!expected) {
      if (statFile(`${this.file}-installation`))
        this.loss = 'The installation file is damaged, so changes may be missing.';
      return;
    }
    if (this.isMissing) throw this.createMissingError();
    const version = readNumber(this.file, VERSION_AT);
    const log = `${this.file}-wal`;
    const salt = readNumber(log, LOG_SALT_AT);
    const isSameFile = version === expected.version || version === expected.pending;
    const isSameLog =
      salt !== undefined && isLaterSalt(expected.salt, salt) && (isSameFile || expected.salt > 0);
    if (salt !== undefined && isSameFile !== isSameLog) this.setLogAside();
    if (!isSameFile) this.loss = 'The database file is older than the last changes.';
    else if (isSameLog ? this.isLogShort(salt) : expected.isNeeded)
      this.loss = 'The write-ahead log with the last changes is missing, incomplete or replaced.';
  }

  /** Returns true if a closed log is shorter than its index, which SQLite updates at each commit. */
  private isLogShort(salt: number): boolean {
    const index = Buffer.alloc(INDEX.checkpointedAt + 4);
    readBytes(`${this.file}-shm`, index);
    const [first, second] = [0, 1].map((at) =>
      index.subarray(at * INDEX.headerBytes).subarray(0, INDEX.headerBytes),
    );
    if (!first?.equals(second ?? first) || first.readUInt32BE(INDEX.saltAt) !== salt) return false;
    const frames = first.readUInt32LE(INDEX.framesAt);
    if (frames === index.readUInt32LE(INDEX.checkpointedAt)) return false;
    const lastByte = toLogBytes(frames) - 1;
    return (
      !readBytes(`${this.file}-wal`, Buffer.alloc(1), lastByte) ||
      readNumber(`${this.file}-wal`, lastByte + 1 - FRAME_BYTES + FRAME_SALT_AT) !== salt
    );
  }

  /** @throws InstallationError if the database has the id of another installation. */
  assertKnown(id: string): void {
    if (id === (this.known?.id ?? id)) return;
    throw new InstallationError(
      `The database file ${this.file} is new or belongs to another installation. Replace it with the file of this ` +
        `installation, or restore a backup with "rollcall restore". To begin anew, delete ${this.file}-installation.`,
    );
  }

  /** Renames the log, so that SQLite does not apply it to another database file. */
  setLogAside(): void {
    const log = `${this.file}-wal`;
    if (statFile(log)) renameSync(log, `${log}-unused-${Date.now()}`);
  }

  private createMissingError(): InstallationError {
    return new InstallationError(
      `The database file ${this.file} of this installation is missing or empty. Move it back together with its -wal file, ` +
        `or restore a backup with "rollcall restore". To begin anew, delete ${this.file}-installation.`,
    );
  }

  /** Id and epoch from the installation file. Undefined before the first start. */
  get known(): InstallationId | undefined {
    return this.readInstallationFile();
  }

  /**
   * Writes the installation file for a closed database. Does nothing if another program has the database open, because
   * its log remains.
   */
  recordClosed(installation = this.known): void {
    const version = readNumber(this.file, VERSION_AT);
    if (!installation || version === undefined || statFile(`${this.file}-wal`)) return;
    const { id, epoch } = installation;
    const part = `${this.file}-installation.part`;
    const lines = formatLine({ id, epoch, version, pending: version } satisfies CheckpointLine, LOG_LINE.at);
    writeFileSync(part, lines + formatLine({ salt: 0, isNeeded: false } satisfies LogLine, LOG_LINE.bytes), {
      mode: 0o600,
      flush: true,
    });
    renameSync(part, `${this.file}-installation`);
  }

  /** Starts the checks. Call it when SQLite has opened the database and its log. */
  startChecks(): void {
    this.log = openSync(`${this.file}-wal`, 'r');
    this.installation = openSync(`${this.file}-installation`, 'r+');
    this.salt = this.readSalt();
    const inodes = Object.fromEntries(
      FILES.map((suffix) => [suffix, statFile(this.file + suffix)?.ino ?? 0]),
    );
    this.stamp = {
      inodes: inodes as Record<Suffix, number>,
      ...this.readFileState(),
      frames: 0,
      isLogNeeded: false,
    };
  }

  /** Ends the checks. Call it before SQLite closes the database, which changes the files. */
  endChecks(): void {
    closeSync(this.log);
    closeSync(this.installation);
    this.stamp = undefined;
  }

  /** Checks all files. @throws DatabaseError `replaced` if a file is no longer the one that SQLite has open. */
  assertUnchanged(): void {
    this.assertSame(FILES);
  }

  /**
   * Remembers the last frame of the log before a transaction.
   * @param frames number of frames in the log.
   * @throws DatabaseError `replaced` if the index of the log was overwritten, so that SQLite would overwrite commits.
   */
  prepareCommit(frames: number): void {
    if (this.fault) throw this.fault;
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
    if (frames === 0) return;
    const salt = this.readSalt();
    const isRestarted = salt !== this.salt;
    if (isRestarted ? !isLaterSalt(this.salt, salt) : !this.isLastFrameSame())
      this.fail(`${this.file}-wal was shortened or overwritten.`);
    this.setLastFrame(frames);
    if (isRestarted || !this.stamp?.isLogNeeded) this.writeLogLine({ salt, isNeeded: true });
    if (this.stamp) this.stamp.frames = frames;
  }

  private setLastFrame(frames: number): void {
    this.frames = frames;
    if (frames > 0) readSync(this.log, this.lastFrame, 0, FRAME_BYTES, toLogBytes(frames) - FRAME_BYTES);
  }

  private isLastFrameSame(): boolean {
    if (this.frames === 0) return true;
    readSync(this.log, this.frame, 0, FRAME_BYTES, toLogBytes(this.frames) - FRAME_BYTES);
    return this.frame.equals(this.lastFrame);
  }

  /**
   * Records that a checkpoint begins to change the database file.
   * @param setVersion sets `user_version`, which the checkpoint then writes to the database file.
   */
  beginCheckpoint(setVersion: (version: number) => void): void {
    this.assertUnchanged();
    const line = this.readInstallationFile();
    if (line && line.pending === line.version) {
      const pending = randomInt(1, 2 ** 31);
      this.writeCheckpointLine({ ...line, pending });
      // The next start must accept both versions, also after a power failure.
      fsyncSync(this.installation);
      try {
        setVersion(pending);
      } catch {
        this.writeCheckpointLine(line); // on a full disk, the checkpoint must make space without a new version
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
    if (this.stamp) this.stamp = { ...this.stamp, ...this.readFileState(), frames };
    const line = this.readInstallationFile();
    if (!isComplete || !line) return;
    this.writeCheckpointLine({ ...line, version: line.pending });
    this.writeLogLine({ salt: this.salt, isNeeded: false });
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
    if (stamp.mtime === UNKNOWN_TIME) this.stamp = { ...stamp, ...this.readFileState() };
  }

  private fail(reason: string): never {
    this.fault = new DatabaseError('replaced', new Error(reason));
    this.restoreInstallationFile();
    this.onFault(reason);
    throw this.fault;
  }

  /** Restores a deleted installation file, so that the next start does not take an empty folder for a new installation. */
  private restoreInstallationFile(): void {
    if (statFile(`${this.file}-installation`)) return;
    createParentFolder(this.file);
    writeFileSync(`${this.file}-installation`, readFileSync(this.installation), { mode: 0o600 });
  }

  private readFileState(): Pick<FileStamp, 'size' | 'mtime'> {
    const { size = 0, mtimeMs: mtime = 0 } = statFile(this.file) ?? {};
    return { size, mtime };
  }

  private readSalt(): number {
    return readSync(this.log, this.frame, 0, 4, LOG_SALT_AT) < 4 ? 0 : this.frame.readUInt32BE(0);
  }

  /** Returns undefined if the installation file is missing or damaged. */
  private readInstallationFile(): (CheckpointLine & LogLine) | undefined {
    try {
      const lines = readFileSync(`${this.file}-installation`, 'utf8').split('\n', 2);
      return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as CheckpointLine &
        LogLine;
    } catch {
      return undefined;
    }
  }

  private writeCheckpointLine({ id, epoch, version, pending }: CheckpointLine): void {
    writeSync(this.installation, formatLine({ id, epoch, version, pending }, LOG_LINE.at), 0);
  }

  private writeLogLine(line: LogLine): void {
    this.salt = line.salt;
    if (this.stamp) this.stamp.isLogNeeded = line.isNeeded;
    writeSync(this.installation, formatLine(line, LOG_LINE.bytes), LOG_LINE.at);
  }
}

const toLogBytes = (frames: number): number => LOG_HEADER_BYTES + frames * FRAME_BYTES;

const formatLine = (line: object, bytes: number): string => `${JSON.stringify(line).padEnd(bytes - 1)}\n`;

/** Returns true if SQLite gives the second salt to a log after the first one. A log without commits has the salt 0. */
const isLaterSalt = (first: number, second: number): boolean =>
  first === 0 || (second - first) >>> 0 < MAX_SALT_STEPS;

/** @throws DatabaseError `away` if the folder cannot be read. */
function statFile(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw toDatabaseError(Object.assign(error as Error, { code: 'SQLITE_IOERR' }));
  }
}

/** Reads a number from a file that SQLite does not have open. Returns undefined if the file is missing or too short. */
function readNumber(path: string, position: number): number | undefined {
  const bytes = Buffer.alloc(4);
  return readBytes(path, bytes, position) ? bytes.readUInt32BE(0) : undefined;
}

/** Fills `bytes` from a file that SQLite does not have open. Returns false if the file is missing or too short. */
function readBytes(path: string, bytes: Buffer, position = 0): boolean {
  if (!statFile(path)) return false;
  const file = openSync(path, 'r');
  try {
    return readSync(file, bytes, 0, bytes.length, position) === bytes.length;
  } finally {
    closeSync(file);
  }
}
