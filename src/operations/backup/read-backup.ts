import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isObject, tryParseJson } from '../../platform/common/json.js';
import type { SqlValue, TableColumns } from '../../platform/database/engine/sql.js';
import { type BackupHeader, BackupError, FORMAT, CHECKSUM_BYTES, buildChecksum } from './backup-format.js';

/**
 * Maximum length of a line, in characters. A line contains one row, which may have a few columns with up to 16 MiB
 * each.
 */
const MAX_LINE = 256 * 1024 * 1024;
const BATCH = { rows: 500, characters: 2_000_000 };

/** Tables and migrations of the running release. A release restores only backups with the same schema. */
export interface BackupSchema {
  tables: readonly TableColumns[];
  migrations: readonly string[];
}

/** Backup file that is open for reading. Its checksum and schema have been verified. */
export class BackupReader {
  private constructor(
    private readonly file: FileHandle,
    private readonly size: number,
    readonly header: BackupHeader,
  ) {}

  /**
   * Opens a backup and verifies its checksum and schema.
   * @throws BackupError for a damaged backup, or for a backup with the schema of another release.
   */
  static async open(path: string, schema: BackupSchema): Promise<BackupReader> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      await assertComplete(file, size);
      const header = await readHeader(file, size);
      assertSchema(header, schema);
      return new BackupReader(file, size, header);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Yields the rows in batches. @throws BackupError if the rows do not match the header. */
  async *readRows(): AsyncGenerator<{ table: TableColumns; rows: SqlValue[][] }> {
    const lines = readLines(this.file, this.size);
    await lines.next();
    for (const table of this.header.tables) {
      const head = parseLine((await lines.next()).value);
      if (!isObject(head) || head['table'] !== table.name) throw toError('a table is missing');
      let left = table.rows;
      let batch: SqlValue[][] = [];
      let length = 0;
      for (; left > 0; left--) {
        const { value: line } = await lines.next();
        batch.push(toRow(parseLine(line), table));
        length += line?.length ?? 0;
        if (batch.length < BATCH.rows && length < BATCH.characters) continue;
        yield { table, rows: batch };
        batch = [];
        length = 0;
      }
      if (batch.length > 0) yield { table, rows: batch };
    }
    if (!(await lines.next()).done) throw toError('it has more rows than its header states');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

async function assertComplete(file: FileHandle, size: number): Promise<void> {
  if (size <= CHECKSUM_BYTES) throw toError('it is too short');
  const hash = createHash('sha256');
  for await (const chunk of readBytes(file, size - CHECKSUM_BYTES)) hash.update(chunk);
  const stored = Buffer.alloc(CHECKSUM_BYTES);
  await file.read(stored, 0, CHECKSUM_BYTES, size - CHECKSUM_BYTES);
  if (!stored.equals(buildChecksum(hash.digest('hex')))) throw toError('its checksum is wrong');
}

async function readHeader(file: FileHandle, size: number): Promise<BackupHeader> {
  const lines = readLines(file, size);
  const header = parseLine((await lines.next()).value);
  await lines.return(undefined);
  const format = isObject(header) ? header['rollcall_backup'] : undefined;
  if (!isObject(header) || typeof format !== 'number') throw new BackupError('is not a backup');
  if (format > FORMAT) throw new BackupError(`was created by a newer release (${releaseOf(header)})`);
  if (!isHeader(header)) throw toError('its header is incomplete');
  return header;
}

const releaseOf = (head: object): string => `Rollcall ${'version' in head ? String(head.version) : '?'}`;

function isHeader(header: object): header is BackupHeader {
  const { tables, migrations }: { tables?: unknown; migrations?: unknown } = header;
  return Array.isArray(tables) && tables.every(isTable) && Array.isArray(migrations);
}

const isTable = (table: unknown): boolean =>
  isObject(table) && Array.isArray(table['columns']) && Number.isSafeInteger(table['rows']);

/**
 * Rejects a backup with the schema of another release, because a migration may have changed the meaning of a column.
 */
function assertSchema(header: BackupHeader, schema: BackupSchema): void {
  const serialize = ({ tables, migrations }: BackupSchema): string =>
    JSON.stringify([migrations, tables.map(({ name, columns }) => [name, columns])]);
  if (serialize(header) === serialize(schema)) return;
  throw new BackupError(
    `has the schema of ${releaseOf(header)}, which differs from the schema of this release. Restore it with that release, then upgrade`,
  );
}

function toRow(value: unknown, { columns }: TableColumns): SqlValue[] {
  if (Array.isArray(value) && value.length === columns.length && value.every(isSqlValue)) return value;
  throw toError('a row is missing or has the wrong columns');
}

const isSqlValue = (value: unknown): value is SqlValue =>
  value === null || typeof value === 'string' || typeof value === 'number';

function parseLine(line: unknown): unknown {
  if (typeof line !== 'string') throw toError('it ends too early');
  const value = tryParseJson(line);
  if (value === undefined) throw toError('a line is not JSON');
  return value;
}

async function* readLines(file: FileHandle, size: number): AsyncGenerator<string, undefined> {
  // The callback of `pipeline` ignores the error, because the loop below receives it too.
  const gunzip = createGunzip().setEncoding('utf8');
  const text = pipeline(readBytes(file, size - CHECKSUM_BYTES), gunzip, () => undefined);
  let begun: string[] = [];
  let length = 0;
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      const [end = '', ...others] = chunk.split('\n');
      begun.push(end);
      length += end.length;
      if (length > MAX_LINE) throw toError('a line is too long');
      for (const other of others) {
        yield begun.join('');
        begun = [other];
        length = other.length;
      }
    }
  } catch (error) {
    throw error instanceof BackupError ? error : toError('it cannot be decompressed');
  }
  if (length > 0) throw toError('its last line is incomplete');
  return undefined;
}

async function* readBytes(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const buffer = Buffer.allocUnsafe(Math.min(256 * 1024, size - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw toError('it ends too early');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

const toError = (fault: string): BackupError => new BackupError(`is damaged or not a backup: ${fault}`);
