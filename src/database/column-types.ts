import type { ColumnOptions } from 'typeorm';

/** Without `nullable`, so that one helper serves primary keys too. */
type Column = Omit<ColumnOptions, 'nullable'>;

/**
 * The portable column types. Character set and collation are explicit, because a MariaDB without Debian's
 * configuration defaults to latin1, and binary, because the application decides what is equal (ADR 0004).
 */
export const text = (length: number): Column => ({
  type: 'varchar',
  length,
  charset: 'utf8mb4',
  collation: 'utf8mb4_bin',
});

/** Up to 16 MiB: JSON documents and free text. */
export const longText = (): Column => ({
  type: 'mediumtext',
  charset: 'utf8mb4',
  collation: 'utf8mb4_bin',
});

/** UUIDs, hashes in hexadecimal and other identifiers made by the service. */
export const ascii = (length: number): Column => ({
  type: 'varchar',
  length,
  charset: 'ascii',
  collation: 'ascii_bin',
});

export const uuid = (): Column => ascii(36);

/** UTC with milliseconds; see `common/time.ts`. */
export const time = (): Column => ({ type: 'datetime', precision: 3 });

/** 0 or 1. */
export const flag = (): Column => ({ type: 'tinyint', default: 0 });

export const integer = (): Column => ({ type: 'int', default: 0 });

/** Takes off what SQLite does not know. */
export function dropCollation(column: { charset?: string; collation?: string }): void {
  delete column.charset;
  delete column.collation;
}
