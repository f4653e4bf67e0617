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
