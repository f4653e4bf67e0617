/** The type of a column, in words that TypeORM's entities and its schema builder share. */
export interface ColumnType {
  type: 'varchar' | 'mediumtext' | 'datetime' | 'tinyint' | 'int';
  length?: string;
  charset?: string;
  collation?: string;
  precision?: number;
  default?: number;
}

// Character set and collation are explicit: a MariaDB without Debian's configuration defaults to latin1, and the
// application decides what is equal (ADR 0004).
const UTF8 = { charset: 'utf8mb4', collation: 'utf8mb4_bin' };
const ASCII = { charset: 'ascii', collation: 'ascii_bin' };

/** Up to `length` characters of Unicode. */
export const text = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...UTF8 });

/** Up to 16 MiB: JSON documents and free text. */
export const longText = (): ColumnType => ({ type: 'mediumtext', ...UTF8 });

/** UUIDs, hashes in hexadecimal and other identifiers made by the service. */
export const ascii = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...ASCII });

export const uuid = (): ColumnType => ascii(36);

/** UTC with milliseconds; see `common/time.ts`. */
export const time = (): ColumnType => ({ type: 'datetime', precision: 3 });

/** 0 or 1. */
export const flag = (): ColumnType => ({ type: 'tinyint', default: 0 });

export const integer = (): ColumnType => ({ type: 'int', default: 0 });

/** Removes what SQLite does not know: it has one character set and refuses the names of MySQL's collations. */
export function dropCollation(column: { charset?: string; collation?: string }): void {
  delete column.charset;
  delete column.collation;
}
