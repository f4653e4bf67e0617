/** Options of a column type, for entities and migrations. */
export interface ColumnType {
  type: 'varchar' | 'mediumtext' | 'datetime' | 'tinyint' | 'int';
  length?: string;
  charset?: string;
  collation?: string;
  precision?: number;
  default?: number;
}

// The application decides which values are equal, so the database compares bytes (ADR 4). The character set is
// explicit, because MariaDB may default to latin1.
const UTF8 = { charset: 'utf8mb4', collation: 'utf8mb4_bin' };
const ASCII = { charset: 'ascii', collation: 'ascii_bin' };

export const text = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...UTF8 });

/** Column for JSON documents and free text of up to 16 MiB. */
export const longText = (): ColumnType => ({ type: 'mediumtext', ...UTF8 });

/** Column for UUIDs, hexadecimal hashes and other identifiers that the service creates. */
export const ascii = (length: number): ColumnType => ({ type: 'varchar', length: String(length), ...ASCII });

export const uuid = (): ColumnType => ascii(36);

export const time = (): ColumnType => ({ type: 'datetime', precision: 3 });

export const bool = (): ColumnType => ({ type: 'tinyint', default: 0 });

export const int = (): ColumnType => ({ type: 'int', default: 0 });

/** Removes the character set and collation of a column, because SQLite does not support MySQL's names for them. */
export function removeCollation(column: { charset?: string; collation?: string }): void {
  delete column.charset;
  delete column.collation;
}
