import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2';
import { Readable } from 'node:stream';
import { isObject } from '../../common/json.js';
import { DatabaseFault } from '../engine/database-fault.js';
import {
  type InsertStatement,
  PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  placeholders,
} from '../engine/sql.js';
import { sent } from './mysql-statement.js';

/** Fewer rows are cheaper as a statement. */
const WORTH_LOADING = 20;
/** Characters that are sent at once. */
const PIECE = 256 * 1024;
const ER_DUP_ENTRY = 1062;

/** What servers say where `local_infile` is off: MySQL 5, MySQL 8, MariaDB. Nothing has happened then. */
const DISABLED = new Set<unknown>([1148, 3948, 4166]);

/** Connections to servers that said so: it is a setting of the server. */
const refusing = new WeakSet<Connection>();

type Rows = readonly SqlValue[][];

/** Inserts rows in a transaction, in the way that costs the least. @throws DatabaseFault `duplicate` for a key that exists. */
export async function insertAll(
  connection: Connection,
  statement: InsertStatement,
  rows: Rows,
): Promise<void> {
  if (await loadAll(connection, statement, rows)) return;
  for (const { sql, params } of multiRow(statement, rows)) await sent(connection, sql, params);
}

/**
 * Sends rows by LOAD DATA LOCAL INFILE, which costs both sides half of what statements do. The server asks for no file:
 * the driver answers with these rows, and with nothing where no rows are being sent.
 *
 * For a transaction only: where statements fail, LOAD DATA leaves out the row or cuts the value and warns. Any warning
 * and any missing row is thrown here, and the transaction undone.
 * @returns false, with nothing done, where rows are few, to be overwritten, or refused by the server in this form.
 */
async function loadAll(
  connection: Connection,
  { into, tail }: InsertStatement,
  rows: Rows,
): Promise<boolean> {
  if (!into || rows.length < WORTH_LOADING || tail !== '' || refusing.has(connection)) return false;
  const sql = `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${into.table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' (${into.columns.join(', ')})`;
  const result = await load(connection, sql, rows);
  if (!result) return false;
  const { affectedRows, warningStatus } = result;
  if (affectedRows === rows.length && warningStatus === 0) return true;
  const warnings = await sent<(RowDataPacket & { Code: number })[]>(connection, 'SHOW WARNINGS');
  const codes = [...new Set(warnings.map(({ Code }) => Code))];
  const error = new Error(
    `${affectedRows} of ${rows.length} rows were loaded, with warnings ${codes.join()}`,
  );
  throw codes.includes(ER_DUP_ENTRY) ? new DatabaseFault('duplicate', error) : error;
}

/** @returns undefined where the server takes no streams. */
async function load(connection: Connection, sql: string, rows: Rows): Promise<ResultSetHeader | undefined> {
  try {
    return await sent<ResultSetHeader>(connection, sql, [], () => Readable.from(piecesOf(rows)));
  } catch (error) {
    if (!isObject(error) || !DISABLED.has(error['errno'])) throw error;
    refusing.add(connection);
    return undefined;
  }
}

function* piecesOf(rows: Rows): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    assertBindable(row);
    text += `${row.map(fieldOf).join('\t')}\n`;
    if (text.length < PIECE) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

const SPECIAL = /[\\\t\n]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };

function fieldOf(value: SqlValue): string {
  if (typeof value === 'number') return String(value);
  if (value === null) return '\\N';
  return SPECIAL.test(value) ? value.replace(/[\\\t\n]/g, (character) => ESCAPES[character] ?? '') : value;
}

/** MySQL binds 65,535 values a statement. */
const MAX_PARAMS = 30_000;
const SEPARATOR = ', ';
/** Well under the smallest `max_allowed_packet` in use (16 MiB). */
const MAX_CHARACTERS = 2_000_000;

/**
 * Characters of a value, on average, from which it is cheaper for both sides to bind the values of a prepared statement
 * than to write and read them as text (documents); with short ones (search words) it is the other way round.
 */
const WIDE = 64;

/**
 * The rows as multi-row statements: one, or more where a limit of the server asks for it. Rows of long values come in
 * statements of one form, short enough to be kept prepared.
 */
export function* multiRow(
  { head, columns, tail }: InsertStatement,
  rows: readonly SqlValue[][],
): Generator<{ sql: string; params: SqlValue[] }> {
  const row = `(${placeholders(columns)})`;
  const statement = (params: SqlValue[]) => {
    const values = (row + SEPARATOR).repeat(params.length / columns).slice(0, -SEPARATOR.length);
    return { sql: `${head}${values}${tail}`, params };
  };
  const sizes = rows.map(sizeOf);
  const isWide = sizes.reduce((sum, size) => sum + size, 0) > WIDE * columns * rows.length;
  const kept = Math.floor((PREPARED_LENGTH - head.length - tail.length) / (row.length + SEPARATOR.length));
  const most = columns * Math.max(1, Math.min(isWide ? kept : Infinity, Math.floor(MAX_PARAMS / columns)));
  let params: SqlValue[] = [];
  let length = 0;
  for (const [index, values] of rows.entries()) {
    const size = sizes[index] ?? 0;
    if (params.length > 0 && (params.length >= most || length + size > MAX_CHARACTERS)) {
      yield statement(params);
      params = [];
      length = 0;
    }
    params.push(...values);
    length += size;
  }
  if (params.length > 0) yield statement(params);
}

const sizeOf = (values: readonly SqlValue[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
