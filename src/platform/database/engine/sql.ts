import { getMetadataArgsStorage } from 'typeorm';
import { getOrCreate } from '../../common/maps.js';

/** A value that a statement can bind. A string with a NUL character is rejected, because Node.js 22 would cut it. */
export type SqlValue = string | number | null;

export type Dialect = 'sqlite' | 'mysql';

/** Runs statements with `?` placeholders, in the SQL that SQLite, MariaDB and MySQL share. */
export interface Sql {
  readonly dialect: Dialect;
  query<T extends object>(sql: string, params?: readonly SqlValue[]): Promise<T[]>;
  /** Returns the only row of a SELECT, or undefined if it finds no row. */
  queryOne<T extends object>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined>;
  /** Runs an INSERT, UPDATE or DELETE, and returns the number of rows that it matched. */
  execute(sql: string, params?: readonly SqlValue[]): Promise<number>;
  /** Inserts any number of rows (`INSERT INTO … VALUES (…), (…)`) in the way that is fastest for the engine. */
  insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void>;
}

/** A table and its columns. */
export interface TableColumns {
  name: string;
  columns: readonly string[];
}

/** The table and the columns of an INSERT. */
export interface InsertStatement extends TableColumns {
  /** SQL after the rows. */
  tail?: string;
}

/** Returns the SQL of an INSERT before its rows. */
export const insertHeadOf = ({ name, columns }: TableColumns): string =>
  `INSERT INTO ${name} (${columns.join(', ')}) VALUES `;

/** An open transaction, which must end with either `commit` or `rollback`. */
export interface OpenTransaction extends Sql {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** State of a database: it accepts changes, or the reason why a change would fail now. */
export type WriteState = 'writable' | UnwritableState;
export type UnwritableState =
  'read_only' | 'out_of_sync' | 'denied' | 'full' | 'disk_error' | 'damaged' | 'replaced' | 'locked' | 'away';

export interface ConnectionUsage {
  inUse: number;
  waiting: number;
}

/**
 * A database engine. Each single statement runs in its own transaction. All methods, also of transactions, throw a
 * `DatabaseError` for a temporary failure (`Fault`), and otherwise the driver's error.
 */
export interface Engine extends Sql {
  /**
   * Returns the rows of a SELECT that may read a whole table, without blocking the thread that answers requests. The
   * statement sees all earlier commits.
   * @param signal stops the statement, also in the database. The call then throws the signal's reason.
   */
  scan<T extends object>(sql: string, params?: readonly SqlValue[], signal?: AbortSignal): Promise<T[]>;
  begin(): Promise<OpenTransaction>;
  readonly usage: ConnectionUsage;
  /**
   * Returns `writable` or another state that the database reports. A write is tried at most once per second.
   * @throws DatabaseError if the write failed. `toWriteState` converts it to a state.
   */
  checkWriteState(): Promise<WriteState>;
  close(): Promise<void>;
}

/** Returns the only value of a `SELECT COUNT(…)` statement. */
export async function countRows(sql: Sql, text: string, params: readonly SqlValue[] = []): Promise<number> {
  const row = await sql.queryOne<Record<string, number>>(text, params);
  return Object.values(row ?? {})[0] ?? 0;
}

/**
 * Maximum length of a statement that stays prepared, in characters. Longer multi-row statements differ too often to be
 * reused.
 */
export const MAX_PREPARED_LENGTH = 4096;

/**
 * @throws TypeError for the first invalid value. The message contains the position of the value but never the value
 * itself.
 */
export function assertBindable(params: readonly SqlValue[]): void {
  params.forEach((value: unknown, index) => {
    const isBindable =
      value === null ||
      (typeof value === 'string' && !value.includes('\0') && value.isWellFormed()) ||
      (typeof value === 'number' && Number.isFinite(value));
    if (!isBindable)
      throw new TypeError(`parameter ${index + 1} of a statement cannot be bound (${typeof value})`);
  });
}

export const abortReasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new DOMException('The statement was stopped.', 'AbortError');

export interface Clause {
  sql: string;
  params: readonly SqlValue[];
}

export const toClause = (sql: string, ...params: readonly SqlValue[]): Clause => ({ sql, params });

export const joinClauses = (clauses: readonly Clause[], separator: string): Clause => ({
  sql: clauses.map(({ sql }) => sql).join(separator),
  params: clauses.flatMap(({ params }) => params),
});

export const buildWhere = (conditions: readonly Clause[]): Clause =>
  conditions.length === 0 ? toClause('1 = 1') : joinClauses(conditions, ' AND ');

/** Returns `?, ?, ?` for a count of 3. */
export function toPlaceholders(count: number): string {
  return '?, '.repeat(count).slice(0, -2);
}

/** Returns the clause that locks the selected rows. It is empty on SQLite, which allows only one writer at a time. */
export function lockClauseOf(sql: Sql): string {
  return sql.dialect === 'mysql' ? ' FOR UPDATE' : '';
}

/**
 * Returns the hint that forces the use of an index. The service collects no statistics on SQLite, so without the hint
 * SQLite may use the primary key even if that selects more rows.
 */
export function indexHintOf(sql: Sql, name: string): string {
  return sql.dialect === 'mysql' ? ` FORCE INDEX (${name})` : ` INDEXED BY ${name}`;
}

/**
 * Returns the join operator that makes the database read the tables in the given order. Otherwise MariaDB may start
 * with a full scan.
 */
export function orderedJoinOperatorOf(sql: Pick<Sql, 'dialect'>): string {
  return sql.dialect === 'mysql' ? 'STRAIGHT_JOIN' : 'CROSS JOIN';
}

/** Maximum number of values in a statement. SQLite binds up to 32,766 values, MySQL up to 65,535. */
const MAX_PARAMS = 30_000;

/**
 * Maximum number of primary keys in a DELETE. With many more keys, MariaDB might scan the table instead of using the
 * index.
 */
const MAX_KEYS = 500;

/** Splits values into chunks. By default, each chunk fits into one statement. */
export function* chunkValues<T>(values: readonly T[], size = MAX_PARAMS): Generator<readonly T[]> {
  for (let from = 0; from < values.length; from += size) yield values.slice(from, from + size);
}

type Entity = new () => object;
type Row<E> = { readonly [K in keyof E]: SqlValue };

const tables = new Map<Entity, TableColumns>();

/** Returns the tables of all entities that this program has loaded. */
export const listAllTables = (): TableColumns[] =>
  getMetadataArgsStorage().tables.map(({ target }) => tableOf(target as Entity));

/** Returns the table of an entity. The result is cached, because TypeORM searches the columns of all entities. */
export function tableOf(entity: Entity): TableColumns {
  return getOrCreate(tables, entity, () => readTableMetadata(entity));
}

function readTableMetadata(entity: Entity): TableColumns {
  const storage = getMetadataArgsStorage();
  const name = storage.tables.find(({ target }) => target === entity)?.name;
  if (name === undefined) throw new Error(`${entity.name} is not an entity`);
  const own = storage.columns.filter(({ target }) => target === entity);
  return { name, columns: own.map(({ propertyName }) => propertyName) };
}

/**
 * Returns the rows of a SELECT with any number of values in `IN (…)`. SQLite gets many values as one JSON text, so that
 * the statement is prepared only once.
 * @param toSql builds the statement from the text between the brackets of `IN (…)`.
 */
export async function selectWhereIn<T extends object>(
  sql: Pick<Sql, 'dialect' | 'query'>,
  values: readonly string[],
  toSql: (list: string) => string,
): Promise<T[]> {
  if (sql.dialect === 'sqlite' && values.length >= MIN_JSON_VALUES) {
    assertBindable(values);
    return sql.query<T>(toSql('SELECT value FROM json_each(?)'), [JSON.stringify(values)]);
  }
  const rows: T[] = [];
  for (const part of chunkValues(padValues(values)))
    rows.push(...(await sql.query<T>(toSql(toPlaceholders(part.length)), part)));
  return rows;
}

/** Repeats the last value until the list length is a power of two, so that few different statements are prepared. */
function padValues<T>(values: readonly T[]): readonly T[] {
  const [last] = values.slice(-1);
  const missing = 2 ** Math.ceil(Math.log2(values.length)) - values.length;
  return last === undefined || values.length > MAX_PADDED
    ? values
    : [...values, ...Array<T>(missing).fill(last)];
}
/** Maximum length of a list that is padded. Statements with longer lists are not prepared. */
const MAX_PADDED = 512;

/** Inserts rows. @param tail SQL after the rows. */
export async function insertRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
  tail = '',
): Promise<void> {
  if (rows.length === 0) return;
  const table = tableOf(entity);
  const values = rows.map((row) => table.columns.map((column) => valueOf(row, column)));
  await sql.insert({ ...table, tail }, values);
}

/** Inserts rows, and overwrites rows whose primary keys already exist. */
export async function upsertRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  key: readonly (keyof E & string)[],
  rows: readonly E[],
): Promise<void> {
  const others = tableOf(entity).columns.filter((column) => !key.some((part) => part === column));
  const tail =
    sql.dialect === 'sqlite'
      ? ` ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
      : ` ON DUPLICATE KEY UPDATE ${others.map((name) => `${name} = VALUES(${name})`).join(', ')}`;
  await insertRows(sql, entity, rows, tail);
}

/** Updates a row, but sets only the columns that differ between `before` and `after`. */
export async function updateRow<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  key: keyof E & string,
  before: E,
  after: E,
): Promise<void> {
  const { name, columns } = tableOf(entity);
  const differing = columns.filter((column) => valueOf(before, column) !== valueOf(after, column));
  if (differing.length === 0) return;
  const set = differing.map((column) => `${column} = ?`).join(', ');
  const values = differing.map((column) => valueOf(after, column));
  await sql.execute(`UPDATE ${name} SET ${set} WHERE ${key} = ?`, [...values, after[key]]);
}

export async function deleteRows(sql: Sql, entity: Entity, column: string, values: readonly SqlValue[]) {
  let deleted = 0;
  for (const part of chunkValues(padValues(values))) {
    const condition = `${column} IN (${toPlaceholders(part.length)})`;
    deleted += await sql.execute(`DELETE FROM ${tableOf(entity).name} WHERE ${condition}`, part);
  }
  return deleted;
}

export async function deleteByKeys<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  columns: readonly (keyof E & string)[],
  keys: readonly E[],
): Promise<void> {
  const values = `(${toPlaceholders(columns.length)})`;
  const keyCondition = `(${columns.map((column) => `${column} = ?`).join(' AND ')})`;
  for (const part of chunkValues(padValues(keys), MAX_KEYS)) {
    // SQLite uses the index of the primary key only for `IN`, and MariaDB and MySQL use it only for `OR`.
    const condition =
      sql.dialect === 'sqlite'
        ? `(${columns.join(', ')}) IN (VALUES ${part.map(() => values).join(', ')})`
        : part.map(() => keyCondition).join(' OR ');
    const params = part.flatMap((key) => columns.map((column) => key[column]));
    await sql.execute(`DELETE FROM ${tableOf(entity).name} WHERE ${condition}`, params);
  }
}

/** Minimum number of list values that are passed to SQLite as one JSON text. */
const MIN_JSON_VALUES = 10;

const valueOf = <E extends Row<E>>(row: E, name: string): SqlValue => row[name as keyof E & string] ?? null;
