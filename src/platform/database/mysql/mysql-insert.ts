import { type Connection, type ResultSetHeader, type RowDataPacket, format } from 'mysql2';
import { Readable } from 'node:stream';
import { isObject } from '../../common/json.js';
import { DatabaseError } from '../engine/database-error.js';
import {
  type InsertStatement,
  MAX_PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  insertHeadOf,
  toPlaceholders,
} from '../engine/sql.js';
import { runQuery } from './mysql-statement.js';

/** Minimum number of rows for LOAD DATA. For fewer rows, an INSERT is cheaper. */
const MIN_LOAD_ROWS = 20;
const CHUNK_LENGTH = 256 * 1024;
const ER_DUP_ENTRY = 1062;

/** Error numbers of servers on which `local_infile` is off: MySQL 5, MySQL 8, MariaDB. The statement had no effect. */
const DISABLED = new Set<unknown>([1148, 3948, 4166]);

const infileDisabled = new WeakSet<Connection>();

type RowValues = readonly SqlValue[][];

/**
 * Inserts rows in the open transaction, with LOAD DATA or INSERT, whichever is cheaper.
 * @throws DatabaseError `duplicate` if a key exists.
 */
export async function insertAll(connection: Connection, statement: InsertStatement, rows: RowValues) {
  if (await tryLoadData(connection, statement, rows)) return;
  for (const { sql, params } of buildMultiRowInserts(statement, rows)) {
    const isReused = rows.length === 1 || isWide(rows);
    // Inserts of two or more rows have too many different texts to be prepared and reused.
    if (!isReused) assertBindable(params);
    await (isReused ? runQuery(connection, sql, params) : runQuery(connection, format(sql, params)));
  }
}

/**
 * Inserts rows with LOAD DATA LOCAL INFILE, which costs half as much as INSERT statements. No file is read: the driver
 * streams only these rows.
 *
 * Use only in a transaction. LOAD DATA may skip rows or cut values, with a warning. This function then throws, and the
 * caller must roll back.
 * @returns false, without inserting anything, if LOAD DATA cannot be used or is not worthwhile.
 */
async function tryLoadData(
  connection: Connection,
  { name, columns, tail }: InsertStatement,
  rows: RowValues,
) {
  if (rows.length < MIN_LOAD_ROWS || tail || infileDisabled.has(connection)) return false;
  const sql = `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${name} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' (${columns.join(', ')})`;
  const result = await runLoadData(connection, sql, rows);
  if (!result) return false;
  const { affectedRows, warningStatus } = result;
  if (affectedRows === rows.length && warningStatus === 0) return true;
  const warnings = await runQuery<(RowDataPacket & { Code: number })[]>(connection, 'SHOW WARNINGS');
  const codes = [...new Set(warnings.map(({ Code }) => Code))];
  const error = new Error(
    `${affectedRows} of ${rows.length} rows were loaded, with warnings ${codes.join()}`,
  );
  throw codes.includes(ER_DUP_ENTRY) ? new DatabaseError('duplicate', error) : error;
}

/** Runs a LOAD DATA statement. Returns undefined if `local_infile` is off on the server. */
async function runLoadData(connection: Connection, sql: string, rows: RowValues) {
  try {
    return await runQuery<ResultSetHeader>(connection, sql, [], () => Readable.from(chunkRows(rows)));
  } catch (error) {
    if (!isObject(error) || !DISABLED.has(error['errno'])) throw error;
    infileDisabled.add(connection);
    return undefined;
  }
}

function* chunkRows(rows: RowValues): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    assertBindable(row);
    text += `${row.map(toField).join('\t')}\n`;
    if (text.length < CHUNK_LENGTH) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

const SPECIAL = /[\\\t\n]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };

function toField(value: SqlValue): string {
  if (typeof value === 'number') return String(value);
  if (value === null) return '\\N';
  return SPECIAL.test(value) ? value.replace(/[\\\t\n]/g, (character) => ESCAPES[character] ?? '') : value;
}

/** Maximum number of values in a statement. MySQL binds up to 65,535 values. */
const MAX_PARAMS = 30_000;
const SEPARATOR = ', ';
/**
 * Maximum size of all values in a statement, in characters. It is well below the smallest `max_allowed_packet` (16 MiB).
 */
const MAX_CHARACTERS = 2_000_000;

/** Average length of the values, in characters, above which a prepared statement is cheaper than plain SQL. */
const MIN_PREPARED_WIDTH = 64;

/**
 * Builds as few multi-row INSERT statements as the limits of the server allow. If the values are long, each statement
 * has fewer rows, so that it can be prepared once and reused.
 */
export function* buildMultiRowInserts(
  insert: InsertStatement,
  rows: RowValues,
): Generator<{ sql: string; params: SqlValue[] }> {
  const head = insertHeadOf(insert);
  const { columns, tail = '' } = insert;
  const row = `(${toPlaceholders(columns.length)})`;
  const buildStatement = (params: SqlValue[]) => {
    const values = (row + SEPARATOR).repeat(params.length / columns.length).slice(0, -SEPARATOR.length);
    return { sql: `${head}${values}${tail}`, params };
  };
  const preparedLength = MAX_PREPARED_LENGTH - head.length - tail.length;
  const maxPreparedRows = isWide(rows)
    ? Math.floor(preparedLength / (row.length + SEPARATOR.length))
    : Infinity;
  const maxRows = Math.max(1, Math.min(maxPreparedRows, Math.floor(MAX_PARAMS / columns.length)));
  const maxParams = maxRows * columns.length;
  let params: SqlValue[] = [];
  let length = 0;
  for (const values of rows) {
    const size = sizeOf(values);
    if (params.length > 0 && (params.length >= maxParams || length + size > MAX_CHARACTERS)) {
      yield buildStatement(params);
      params = [];
      length = 0;
    }
    params.push(...values);
    length += size;
  }
  if (params.length > 0) yield buildStatement(params);
}

/** Returns true if the values are so long that a prepared statement is cheaper. */
const isWide = (rows: RowValues): boolean => {
  const values = rows.flat();
  return sizeOf(values) > MIN_PREPARED_WIDTH * values.length;
};

const sizeOf = (values: readonly SqlValue[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
