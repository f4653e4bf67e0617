import { setImmediate } from 'node:timers/promises';
import { type Clause, type Dialect, toClause } from '../platform/database/engine/sql.js';

/**
 * SQLite stores more than its driver returns: bytes after a NUL character, bytes that are not UTF-8, and the type of
 * each value. These functions compare stored values with the values that were read. MariaDB and MySQL do not need this,
 * because their driver returns stored values unchanged.
 */

/** Builds an SQL expression for the types and raw bytes of the columns, or the literal `NULL` for MariaDB and MySQL. */
export function buildStoredFormSql(dialect: Dialect, columns: readonly string[]): string {
  if (dialect === 'mysql') return 'NULL';
  return columns.map((name) => `typeof(${name}) || ' ' || hex(${name})`).join(` || ',' || `);
}

/**
 * Returns false if the driver changed a stored value, or if a value contains a NUL character.
 * @param stored result of `buildStoredFormSql` for the same columns.
 */
export function isIntact(stored: string | null, values: readonly unknown[]): boolean {
  return stored === null || (stored === values.map(toStoredForm).join(',') && !values.some(hasNul));
}

/**
 * Converts the result of `buildStoredFormSql` to the values of the columns. Use it instead of reading the columns,
 * because the driver aborts the process on invalid UTF-8.
 */
export function parseStoredForm(stored: string): (string | null)[] {
  return stored.split(',').map((form) => {
    const [type, hex = ''] = form.split(' ');
    return type === 'null' ? null : Buffer.from(hex, 'hex').toString();
  });
}

/** Returns the bytes of a text as upper-case hexadecimal digits, like the SQL function `hex`. */
export const hexOf = (text: string): string => Buffer.from(text).toString('hex').toUpperCase();

const hasNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0');

function toStoredForm(value: unknown): string {
  if (value === null) return 'null ';
  if (typeof value === 'number') return `integer ${hexOf(String(value))}`;
  return typeof value === 'string' ? `text ${hexOf(value)}` : 'other';
}

/** SQL expression that converts a hexadecimal parameter to ASCII text. */
const textOfHex: Record<Dialect, string> = {
  sqlite: 'CAST(unhex(?) AS TEXT)',
  mysql: '(CONVERT(UNHEX(?) USING ascii) COLLATE ascii_bin)',
};

/**
 * Builds the condition for the lower bound `from` of a text column. On SQLite, it also excludes null and numbers. Do
 * not add a second lower bound, because SQLite uses only one lower bound to search an index.
 */
export const buildMinCondition = (column: string, from = ''): Clause => toClause(`${column} >= ?`, from);
export const buildMaxCondition = (dialect: Dialect, column: string, until?: string): Clause => {
  if (until !== undefined) return toClause(`${column} < ?`, until);
  return toClause(dialect === 'sqlite' ? `${column} < x''` : '1 = 1');
};

/** Builds the condition for keys after the key `hex`, which is in hexadecimal. */
const buildAfterCondition = (dialect: Dialect, column: string, hex: string): Clause =>
  toClause(`${column} > ${textOfHex[dialect]}`, hex);

/**
 * Reads rows page by page in the order of a key. Each page starts after the stored key of the last row, because the key
 * that the driver returned may be incomplete. Other requests can run between two pages.
 * @param read reads up to `size` rows that meet a condition on the key. The `at` of a row is its stored key, in
 * hexadecimal.
 * @param first condition of the first page. By default, all non-empty keys.
 */
export async function* readByKey<Row extends { at: string }>(
  dialect: Dialect,
  column: string,
  size: number,
  read: (condition: Clause) => Promise<Row[]>,
  first = buildAfterCondition(dialect, column, ''),
): AsyncGenerator<Row[]> {
  for (let condition = first; ;) {
    const rows = await read(condition);
    yield rows;
    const end = rows.at(-1);
    if (rows.length < size || !end) return;
    condition = buildAfterCondition(dialect, column, end.at);
    await setImmediate();
  }
}

export const buildNonTextCondition = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `(${column} < '' OR ${column} >= x'')` : '1 = 0';
