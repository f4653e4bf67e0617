import type { Dialect } from '../platform/database/engine/sql.js';

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
 * SQL of a lower or an upper bound of texts, for ranges without one: SQLite has all that is no text before or behind them. Never
 * beside another bound of the same side: SQLite would use one of the two for its index.
 */
export const atLeastText = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `${column} >= ''` : '1 = 1';
export const atMostText = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `${column} < x''` : '1 = 1';

/** SQL for what is no text. */
export const noTexts = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `(${column} < '' OR ${column} >= x'')` : '1 = 0';
