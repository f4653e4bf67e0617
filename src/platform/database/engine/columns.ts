/** Type of a column, in the options that TypeORM accepts both for entities and in its schema builder. */
export interface ColumnType {
  type: 'varchar' | 'mediumtext' | 'datetime' | 'tinyint' | 'int';
  length?: string;
  charset?: string;
  collation?: string;
  precision?: number;
  default?: number;
}

// Character set and collation are explicit. MariaDB may default to latin1, and values must be compared byte by byte,
// because the application decides which values are equal (ADR 4).
const UTF8 = { charset: 'utf8mb4', collation: 'utf8mb4_bin' };
const ASCII = { charset: 'ascii', collation: 'ascii_bin' };

/** Column for up to `length` Unicode characters. */
export const text = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...UTF8 });

/** Column for JSON documents and free text of up to 16 MiB. */
export const longText = (): ColumnType => ({ type: 'mediumtext', ...UTF8 });

/** Column for UUIDs, hexadecimal hashes and other identifiers that the service creates. */
export const ascii = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...ASCII });

export const uuid = (): ColumnType => ascii(36);

/** Column for a UTC time with milliseconds, as in `common/time.ts`. */
export const time = (): ColumnType => ({ type: 'datetime', precision: 3 });

/** Column for a boolean, stored as 0 or 1. */
export const bool = (): ColumnType => ({ type: 'tinyint', default: 0 });

export const int = (): ColumnType => ({ type: 'int', default: 0 });

/** Removes the character set and collation of a column, because SQLite does not support MySQL's names for them. */
export function removeCollation(column: { charset?: string; collation?: string }): void {
  delete column.charset;
  delete column.collation;
}
