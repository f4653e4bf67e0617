import type { QueryRunner, Table, TableColumn, TableColumnOptions } from 'typeorm';
import { dropCollation } from '../column-types.js';

/** Columns as the migrations spell them; `database/column-types.ts` says the same for the entities. */
type Column = (name: string, options?: Partial<TableColumnOptions>) => TableColumnOptions;

const varchar =
  (charset: string) =>
  (length: number): Column =>
  (name, options) => ({
    name,
    type: 'varchar',
    length: String(length),
    charset,
    collation: charset === 'ascii' ? 'ascii_bin' : 'utf8mb4_bin',
    ...options,
  });

export const text = varchar('utf8mb4');
export const ascii = varchar('ascii');
export const uuid = ascii(36);
export const longText: Column = (name, options) => ({
  name,
  type: 'mediumtext',
  charset: 'utf8mb4',
  collation: 'utf8mb4_bin',
  ...options,
});
export const time: Column = (name, options) => ({ name, type: 'datetime', precision: 3, ...options });
export const integer: Column = (name, options) => ({ name, type: 'int', default: 0, ...options });
export const flag: Column = (name, options) => ({ name, type: 'tinyint', default: 0, ...options });
export const key = { isPrimary: true } as const;
export const optional = { isNullable: true } as const;

/** Goes on where a killed process has stopped: MariaDB knows no transaction of several tables. */
export async function createTables(queryRunner: QueryRunner, tables: readonly Table[]): Promise<void> {
  for (const original of tables) {
    const table = original.clone();
    if (queryRunner.dataSource.options.type === 'better-sqlite3') table.columns.forEach(forSqlite);
    await queryRunner.createTable(table, true);
  }
}

export async function dropTables(queryRunner: QueryRunner, tables: readonly Table[]): Promise<void> {
  for (const table of tables.toReversed()) await queryRunner.dropTable(table, true);
}

function forSqlite(column: TableColumn): void {
  dropCollation(column);
  if (column.type === 'int') column.type = 'integer';
}
