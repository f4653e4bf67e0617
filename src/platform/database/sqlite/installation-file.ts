import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createDraftPath } from '../../common/draft-file.js';
import { toDatabaseError } from '../engine/database-error.js';
import { INDEX, LogFrames, PAGE_BYTES } from './log-frames.js';
import { createParentFolder } from './sqlite-connection.js';

/** Length of the file. It stays the same, so that a change cannot leave a part of the file empty. */
const FILE_BYTES = 512;

// Formats of SQLite's files (sqlite.org/fileformat.html, sqlite.org/walformat.html). Numbers have four bytes.
const PAGE_COUNT_AT = 28;
/** Position of `user_version` in a database file. */
export const VERSION_AT = 60;
/** Maximum number of restarts between two salts of one log. SQLite adds 1 to the salt at each restart. */
const MAX_SALT_STEPS = 1 << 24;

/** State that the next start needs to detect lost changes. */
export interface InstallationRecord {
  /** Id and epoch of the installation, as in the table `installation`. */
  id: string;
  epoch: number;
  /** `user_version` of the database file, a random number that each checkpoint changes. */
  version: number;
  /** `user_version` after a checkpoint that may not be complete, otherwise the same as `version`. */
  pending: number;
  /** Salt of the write-ahead log, or 0 without a log. */
  salt: number;
  /** True if the log contains commits that the database file does not contain. */
  isLogNeeded: boolean;
}

/** Thrown if a database file is in use, damaged, missing or from another installation. The message says what to do. */
export class InstallationError extends Error {}

/**
 * The installation file, in the folder of the SQLite database (ADR 41). It is not flushed to the disk at each
 * change, so it may describe an earlier state, but never a later state, of the database.
 */
export class InstallationFile {
  private readonly path = `${this.file}-installation`;
  private readonly log = `${this.file}-wal`;
  /** Second name of the log. */
  private readonly link = `${this.file}-wal-link`;
  /** Modification time of the file when `restore` last checked its content. */
  private checkedTime: number | undefined;

  /** @param file the database file. */
  constructor(private readonly file: string) {}

  /** Reads the record. @returns undefined if the file is missing or damaged. */
  read(): InstallationRecord | undefined {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as InstallationRecord;
    } catch {
      return undefined;
    }
  }

  /**
   * Writes the record. Creates the file if it is missing.
   * @param flush true if the record must survive a power failure.
   */
  write(record: InstallationRecord, flush = false): void {
    writeFileSync(this.path, format(record), { flag: statFile(this.path) ? 'r+' : 'w', mode: 0o600, flush });
  }

  /**
   * Gives the log a second name. After a crash, another program that opens the database deletes the first name, and the
   * second one shows that the log was checkpointed.
   */
  linkLog(): void {
    rmSync(this.link, { force: true });
    try {
      linkSync(this.log, this.link);
    } catch {
      // Without hard links, the next start reports lost changes if another program has deleted the log.
    }
  }

  /**
   * Rewrites the record if the file is missing or its content differs. Otherwise the next start would create a new
   * installation, or assume that the log belongs to another database file.
   */
  restore(record: InstallationRecord): void {
    const time = statFile(this.path)?.mtimeMs;
    if (time !== undefined && time === this.checkedTime) return;
    createParentFolder(this.path);
    if (!isDeepStrictEqual(this.read(), record)) this.write(record);
    this.checkedTime = statFile(this.path)?.mtimeMs;
  }

  /**
   * Records a closed database. Does nothing if another program has the database open, because its log remains.
   * @param installation the id and epoch to record. By default, the recorded id and epoch.
   */
  recordClosed(installation: Pick<InstallationRecord, 'id' | 'epoch'> | undefined = this.read()): void {
    const version = this.readVersion();
    if (!installation || version === undefined || statFile(this.log)) return;
    const { id, epoch } = installation;
    const record = { id, epoch, version, pending: version, salt: 0, isLogNeeded: false };
    const draft = createDraftPath(dirname(this.path));
    writeFileSync(draft, format(record), { mode: 0o600, flush: true });
    renameSync(draft, this.path);
    rmSync(this.link, { force: true });
  }

  /** True if the database file of a known installation is missing or empty. */
  get isDatabaseMissing(): boolean {
    return this.read() !== undefined && this.readVersion() === undefined;
  }

  /**
   * Compares the closed database with the record. Renames a log that does not belong to the database file, because SQLite
   * would apply it to that file.
   * @returns the reason if changes are lost, otherwise undefined.
   * @throws InstallationError if the database file is missing, empty or shortened.
   */
  findLoss(): string | undefined {
    const expected = this.read();
    if (!expected) return statFile(this.path) ? 'The installation file is damaged.' : undefined;
    if (this.isDatabaseMissing)
      throw new InstallationError(
        `The database file ${this.file} of this installation is missing or empty. Move it back together with its -wal ` +
          `file, or restore a backup with "rollcall restore". To start a new installation, delete ${this.path}.`,
      );
    const version = this.readVersion();
    const log = LogFrames.use(this.log, (frames) => frames.readCommitted());
    const isSameFile = version === expected.version || version === expected.pending;
    const isSameLog =
      log !== undefined && isLaterSalt(expected.salt, log.salt) && (isSameFile || expected.salt > 0);
    const { frames, checkpointed } = this.readIndex(log?.salt);
    // SQLite would read the pages of a shortened log instead of the newer pages in the database file.
    const isShortened = log !== undefined && log.frames < checkpointed;
    if (log && (isSameFile !== isSameLog || isShortened)) this.setLogAside();
    if (!isSameFile) return 'The database file is older than the last changes.';
    if (this.isIncomplete(isSameLog && !isShortened ? log.pages : undefined))
      throw new InstallationError(
        `The database file ${this.file} was shortened. Move it and its -wal file away, and restore a backup with ` +
          '"rollcall restore".',
      );
    if (isSameLog ? log.frames >= frames || frames === checkpointed : !expected.isLogNeeded) return undefined;
    if (!log && this.isLinkedLogCheckpointed(expected.salt)) return undefined;
    return 'The write-ahead log with the last changes is missing, incomplete or replaced.';
  }

  /** Renames the log, so that SQLite does not apply it to another database file. */
  setLogAside(): void {
    if (statFile(this.log)) renameSync(this.log, `${this.log}-unused-${Date.now()}`);
  }

  /** @throws InstallationError if the database has the id of another installation. */
  assertKnown(id: string): void {
    if (id === (this.read()?.id ?? id)) return;
    throw new InstallationError(
      `The database file ${this.file} is new or belongs to another installation. Replace it with the file of this ` +
        `installation, or restore a backup with "rollcall restore". To start a new installation, delete ${this.path}.`,
    );
  }

  /** Returns true if the database file ends before its last page, and the log does not contain the missing pages. */
  private isIncomplete(logged: ReadonlyMap<number, number> = new Map()): boolean {
    const last = readBytes(this.file, PAGE_COUNT_AT, 4)?.readUInt32BE(0) ?? 0;
    let page = Math.floor((statFile(this.file)?.size ?? 0) / PAGE_BYTES) + 1;
    while (logged.has(page)) page++;
    return page <= last;
  }

  private readVersion(): number | undefined {
    return readBytes(this.file, VERSION_AT, 4)?.readUInt32BE(0);
  }

  /** Returns true if the database file contains all pages of a log of which only the second name is left. */
  private isLinkedLogCheckpointed(expectedSalt: number): boolean {
    const isCheckpointed = LogFrames.use(this.link, (frames) => {
      const log = frames.readCommitted();
      if (!log || log.frames === 0 || !isLaterSalt(expectedSalt, log.salt)) return false;
      return [...log.pages].every(([page, frame]) => this.isPageSame(page, frames.readPage(frame)));
    });
    return isCheckpointed ?? false;
  }

  private isPageSame(page: number, expected: Buffer | undefined): boolean {
    const stored = readBytes(this.file, (page - 1) * PAGE_BYTES, PAGE_BYTES);
    return expected !== undefined && stored?.equals(expected) === true;
  }

  /**
   * Reads the number of frames in a log, and the number of frames that the database file contains, from the index. SQLite
   * updates the index at each commit.
   * @returns 0 if the index is incomplete or belongs to another log.
   */
  private readIndex(salt: number | undefined): { frames: number; checkpointed: number } {
    const index = readBytes(`${this.file}-shm`, 0, INDEX.checkpointedAt + 4);
    const header = index?.subarray(0, INDEX.headerBytes);
    // The headers differ if SQLite was killed while it wrote them. The last commit was then not acknowledged.
    const isWhole = index && header?.equals(index.subarray(INDEX.headerBytes, 2 * INDEX.headerBytes));
    if (!isWhole || index.readUInt32BE(INDEX.saltAt) !== salt) return { frames: 0, checkpointed: 0 };
    const checkpointed = index.readUInt32LE(INDEX.checkpointedAt);
    return { frames: index.readUInt32LE(INDEX.framesAt), checkpointed };
  }
}

const format = (record: object): string => JSON.stringify(record).padEnd(FILE_BYTES);

/** Returns true if restarts of a log can change its salt from `first` to `second`. The salt 0 means no commits yet. */
export const isLaterSalt = (first: number, second: number): boolean =>
  first === 0 || (second - first) >>> 0 < MAX_SALT_STEPS;

/** @throws DatabaseError `disk_error` if the folder cannot be read. */
export function statFile(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw toDatabaseError(Object.assign(error as Error, { code: 'SQLITE_IOERR' }));
  }
}

/** Reads from a file that SQLite does not have open. Returns undefined if the file is missing or too short. */
function readBytes(path: string, position: number, length: number): Buffer | undefined {
  if (!statFile(path)) return undefined;
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(length);
  try {
    return readSync(file, bytes, 0, length, position) === length ? bytes : undefined;
  } finally {
    closeSync(file);
  }
}
