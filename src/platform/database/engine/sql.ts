import { getMetadataArgsStorage } from 'typeorm';

/**
 * A value that a statement can bind. Both engines refuse all other values before the driver sees them: SQLite's driver
 * refuses booleans and MySQL's does not, and Node.js 22 cuts a text at a NUL.
 */
export type SqlValue = string | number | null;

export type Dialect = 'sqlite' | 'mysql';

/** Statements with `?` placeholders in the SQL that SQLite, MariaDB and MySQL share. */
export interface Sql {
  readonly dialect: Dialect;
  /** Rows of a SELECT. */
  query<T extends object>(sql: string, params?: readonly SqlValue[]): Promise<T[]>;
  /** The first row of a SELECT; for look-ups by a key, of one row at most. */
  first<T extends object>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined>;
  /** Number of rows that an INSERT, UPDATE or DELETE matched. */
  execute(sql: string, params?: readonly SqlValue[]): Promise<number>;
  /** `INSERT INTO … VALUES (…), (…)` of any number of rows, each engine in the way that is fast there. */
  insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void>;
}

/** `<head> VALUES <rows> <tail>` */
export interface InsertStatement {
  /** For an engine that has another way for many rows. */
  into?: { table: string; columns: readonly string[] };
  head: string;
  columns: number;
  tail: string;
}

/** An open transaction: ends with exactly one of `commit` and `rollback`. */
export interface OpenTransaction extends Sql {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Whether a server takes changes: yes, no (a replica, a primary in maintenance), or it is not in step with its cluster. */
export type Writability = 'writable' | 'read_only' | 'out_of_sync';

/** Connections that work, and requests that wait for one. */
export interface Load {
  inUse: number;
  waiting: number;
}

/**
 * A database engine: statements on their own (each its own transaction), and transactions. All of its methods, and
 * those of its transactions, throw a DatabaseFault for a race or a database that is away, and the driver's own error
 * for anything else.
 */
export interface Engine extends Sql {
  /**
   * Rows of a SELECT whose cost no key bounds, read beside the thread that answers requests. It sees all that was
   * committed before. @param signal stops the statement, in the database too. @throws then the signal's reason.
   */
  aside<T extends object>(sql: string, params?: readonly SqlValue[], signal?: AbortSignal): Promise<T[]>;
  begin(): Promise<OpenTransaction>;
  readonly load: Load;
  /** Whether changes are possible now. @throws DatabaseFault when the database does not answer. */
  writability(): Promise<Writability>;
  /** Ends the connections; nothing may be asked afterwards. */
  close(): Promise<void>;
}

/** The number that a statement counts in its only column. */
export async function countRows(sql: Sql, text: string, params: readonly SqlValue[] = []): Promise<number> {
  const row = await sql.first<Record<string, number>>(text, params);
  return Object.values(row ?? {})[0] ?? 0;
}

/** Statements longer than this are not kept prepared: multi-row statements have too many forms. */
export const PREPARED_LENGTH = 4096;

/** @throws TypeError naming the position, never the value. */
export function assertBindable(params: readonly SqlValue[]): void {
  params.forEach((value: unknown, index) => {
    const good =
      value === null ||
      (typeof value === 'string' && !value.includes('\0') && value.isWellFormed()) ||
      (typeof value === 'number' && Number.isFinite(value));
    if (!good) throw new TypeError(`parameter ${index + 1} of a statement cannot be bound (${typeof value})`);
  });
}

/** What a statement that a signal has stopped throws. */
export const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new DOMException('The statement was stopped.', 'AbortError');

/** A piece of SQL with the values of its placeholders. */
export interface Clause {
  sql: string;
  params: readonly SqlValue[];
}

export const clause = (sql: string, ...params: readonly SqlValue[]): Clause => ({ sql, params });

export const joinClauses = (clauses: readonly Clause[], separator: string): Clause => ({
  sql: clauses.map(({ sql }) => sql).join(separator),
  params: clauses.flatMap(({ params }) => params),
});

/** `AND`-ed conditions with their values; `1 = 1` when there are none. */
export const where = (conditions: readonly Clause[]): Clause =>
  conditions.length === 0 ? clause('1 = 1') : joinClauses(conditions, ' AND ');

/** `?, ?, ?` */
export function placeholders(count: number): string {
  return '?, '.repeat(count).slice(0, -2);
}

/** SQLite has one writer at a time and neither needs nor knows row locks. */
export function forUpdate(sql: Sql): string {
  return sql.dialect === 'mysql' ? ' FOR UPDATE' : '';
}

/** The index by which rows are to be found: SQLite keeps no statistics here, and may take a primary key that fits less. */
export function byIndex(sql: Sql, name: string): string {
  return sql.dialect === 'mysql' ? ` FORCE INDEX (${name})` : ` INDEXED BY ${name}`;
}

/** A join in the order of the statement: MariaDB may begin with the whole of a small table, or of the longer index. */
export function joinInOrder(sql: Pick<Sql, 'dialect'>): string {
  return sql.dialect === 'mysql' ? 'STRAIGHT_JOIN' : 'CROSS JOIN';
}

/** Values named in one statement: SQLite binds 32,766 of them, MySQL 65,535. */
const MAX_PARAMS = 30_000;

/** Rows named by their whole key in one statement: for many more MariaDB might look for no index. */
const MAX_KEYS = 500;

/** The values in as few parts as statements can name: a set of changes has no largest size. */
export function* inParts<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < values.length; from += MAX_PARAMS) yield values.slice(from, from + MAX_PARAMS);
}

type Entity = new () => object;
/** A row of an entity: each of its fields is a value that a statement can bind. */
type Row<E> = { readonly [K in keyof E]: SqlValue };

interface Table {
  name: string;
  /** In the order of the entity's fields. */
  columns: readonly string[];
}

const tables = new Map<Entity, Table>();

/** Returns the table of an entity. TypeORM searches the columns of all entities, so its answer is kept. */
export function tableOf(entity: Entity): Table {
  return tables.get(entity) ?? readTable(entity);
}

function readTable(entity: Entity): Table {
  const storage = getMetadataArgsStorage();
  const name = storage.tables.find(({ target }) => target === entity)?.name;
  if (name === undefined) throw new Error(`${entity.name} is not an entity`);
  const columns = storage.columns
    .filter(({ target }) => target === entity)
    .map(({ propertyName }) => propertyName);
  const table = { name, columns };
  tables.set(entity, table);
  return table;
}

/**
 * Rows of a SELECT that names any number of values. @param text the statement around what is between the brackets of
 * `IN (…)`. SQLite takes many as one JSON text: the statement has one form then, and is prepared once.
 */
export async function selectIn<T extends object>(
  sql: Sql,
  values: readonly string[],
  text: (list: string) => string,
): Promise<T[]> {
  if (sql.dialect === 'sqlite' && values.length >= WORTH_JSON) {
    assertBindable(values);
    return sql.query<T>(text('SELECT value FROM json_each(?)'), [JSON.stringify(values)]);
  }
  const rows: T[] = [];
  for (const part of inParts(values))
    rows.push(...(await sql.query<T>(text(placeholders(part.length)), part)));
  return rows;
}

/** Inserts all rows at once. */
export async function insertRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
): Promise<void> {
  await writeRows(sql, entity, rows, '');
}

/** As `insertRows`; a row whose primary key exists is overwritten in all its columns. */
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
  await writeRows(sql, entity, rows, tail);
}

/** Writes the columns in which two states of a row differ. */
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
  await sql.execute(
    `UPDATE ${name} SET ${differing.map((column) => `${column} = ?`).join(', ')} WHERE ${key} = ?`,
    [...differing.map((column) => valueOf(after, column)), after[key]],
  );
}

/** `DELETE … WHERE column IN (…)`. @returns the number of rows. */
export async function deleteRows(
  sql: Sql,
  entity: Entity,
  column: string,
  values: readonly SqlValue[],
): Promise<number> {
  let deleted = 0;
  for (const part of inParts(values)) {
    deleted += await sql.execute(
      `DELETE FROM ${tableOf(entity).name} WHERE ${column} IN (${placeholders(part.length)})`,
      part,
    );
  }
  return deleted;
}

/** Deletes rows by their primary key, of which `keys` has the columns. */
export async function deleteKeys<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  columns: readonly (keyof E & string)[],
  keys: readonly E[],
): Promise<void> {
  const values = `(${placeholders(columns.length)})`;
  const test = `(${columns.map((column) => `${column} = ?`).join(' AND ')})`;
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    const part = keys.slice(from, from + MAX_KEYS);
    // Each engine uses the key in one of the two forms only.
    const isNamed =
      sql.dialect === 'sqlite'
        ? `(${columns.join(', ')}) IN (VALUES ${part.map(() => values).join(', ')})`
        : part.map(() => test).join(' OR ');
    await sql.execute(
      `DELETE FROM ${tableOf(entity).name} WHERE ${isNamed}`,
      part.flatMap((key) => columns.map((column) => key[column])),
    );
  }
}

async function writeRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
  tail: string,
): Promise<void> {
  if (rows.length === 0) return;
  const { name, columns } = tableOf(entity);
  const values = rows.map((row) => columns.map((column) => valueOf(row, column)));
  const into = `INSERT INTO ${name} (${columns.join(', ')}) `;
  const isWorthJson = columns.length <= NARROW && rows.length >= WORTH_JSON && tail === '';
  if (isWorthJson && sql.dialect === 'sqlite') return insertAsJson(sql, into, values);
  const head = `${into}VALUES `;
  return sql.insert({ into: { table: name, columns }, head, columns: columns.length, tail }, values);
}

async function insertAsJson(sql: Sql, into: string, values: readonly SqlValue[][]): Promise<void> {
  values.forEach(assertBindable);
  const members = values[0]?.map((_, index) => `value ->> ${index}`).join(', ') ?? '';
  await sql.execute(`${into}SELECT ${members} FROM json_each(?)`, [JSON.stringify(values)]);
}

/**
 * Rows of up to so many columns are cheaper on SQLite as one JSON text than one by one, which costs more for the calls of
 * the driver than for the rows (2.5 against 4.2 µs of CPU for a word); from so many rows on.
 */
const NARROW = 4;
const WORTH_JSON = 10;

const valueOf = <E extends Row<E>>(row: E, column: string): SqlValue =>
  isField(row, column) ? row[column] : null;
const isField = <E extends object>(row: E, name: string): name is keyof E & string => name in row;
