import { setImmediate } from 'node:timers/promises';
import { type Clause, type Dialect, clause } from '../platform/database/engine/sql.js';

/**
 * SQLite keeps more of a value than its driver reads: bytes behind a NUL character, bytes that are no UTF-8, and of which
 * type a value is. These functions compare what is stored with what was read. On MariaDB and MySQL a column has one type,
 * its texts are valid in its character set, and the driver reads all of them.
 */

/** SQL of the form in which the columns of a row are stored; null where reading loses nothing. */
export function storedForm(dialect: Dialect, columns: readonly string[]): string {
  if (dialect === 'mysql') return 'NULL';
  return columns.map((name) => `typeof(${name}) || ' ' || hex(${name})`).join(` || ',' || `);
}

/** Whether a row is stored as it was read, without characters that nobody reads. @param stored the value of `storedForm` for the same columns. */
export function isAsRead(stored: string | null, values: readonly unknown[]): boolean {
  return stored === null || (stored === values.map(formOf).join(',') && !values.some(hasNul));
}

/**
 * The values of `storedForm`, read from their bytes: the driver aborts the process on a text that is no UTF-8. Such a text, or
 * a value of another type, is not equal to what it is read as (`isAsRead`).
 */
export function valuesOf(stored: string): (string | null)[] {
  return stored.split(',').map((form) => {
    const [type, hex = ''] = form.split(' ');
    return type === 'null' ? null : Buffer.from(hex, 'hex').toString();
  });
}

/** The bytes of a text as SQL's `hex` writes them. */
export const hexOf = (text: string): string => Buffer.from(text).toString('hex').toUpperCase();

const hasNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0');

function formOf(value: unknown): string {
  if (value === null) return 'null ';
  if (typeof value === 'number') return `integer ${hexOf(String(value))}`;
  return typeof value === 'string' ? `text ${hexOf(value)}` : 'other';
}

/** SQL of a text of ASCII that is given by its bytes: so that a statement can go on behind any key that someone stored. */
export const textOfHex: Record<Dialect, string> = {
  sqlite: 'CAST(unhex(?) AS TEXT)',
  mysql: '(CONVERT(UNHEX(?) USING ascii) COLLATE ascii_bin)',
};

/**
 * The bounds of a range of texts. SQLite has all values that are no text before or after the texts, so a range without a bound
 * has one too. Never beside another bound of the same side: SQLite would use one of the two for its index.
 */
export const lowerBound = (dialect: Dialect, column: string, from: string | undefined): Clause => {
  if (from !== undefined) return clause(`${column} >= ?`, from);
  return clause(dialect === 'sqlite' ? `${column} >= ''` : '1 = 1');
};
export const upperBound = (dialect: Dialect, column: string, until?: string): Clause => {
  if (until !== undefined) return clause(`${column} < ?`, until);
  return clause(dialect === 'sqlite' ? `${column} < x''` : '1 = 1');
};

/** Keys after the one with these bytes. */
export const after = (dialect: Dialect, column: string, at: string): Clause =>
  clause(`${column} > ${textOfHex[dialect]}`, at);

/**
 * Reads rows in the order of a key, page by page. The next page begins after the key as it is stored: after the key as it is
 * read it might have the same row again and again. Other requests get their turn between two pages.
 * @param read a page of at most `size` rows that meet a condition on the key, with the bytes of the key as `at`.
 */
export async function* readByKey<Row extends { at: string }>(
  dialect: Dialect,
  column: string,
  first: Clause,
  size: number,
  read: (condition: Clause) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let condition = first; ;) {
    const rows = await read(condition);
    yield rows;
    const end = rows.at(-1);
    if (rows.length < size || !end) return;
    condition = after(dialect, column, end.at);
    await setImmediate();
  }
}

/** SQL for what is no text. */
export const noTexts = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `(${column} < '' OR ${column} >= x'')` : '1 = 0';
