import { type QueryRunner, type Table, TableColumn, type TableColumnOptions } from 'typeorm';
import { type ColumnType, dropCollation } from '../engine/columns.js';

export const key = { isPrimary: true } as const;
export const optional = { isNullable: true } as const;

/** A column of a table; not null unless it is `optional`. */
export const column = (
  name: string,
  type: ColumnType,
  options?: Partial<TableColumnOptions>,
): TableColumnOptions => ({ name, ...type, ...options });

/** Skips tables that exist, and so continues after a killed process: DDL is not transactional on MariaDB. */
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

/** Skips columns that exist, and so continues after a killed process. */
export async function addColumns(
  queryRunner: QueryRunner,
  table: string,
  columns: readonly TableColumnOptions[],
): Promise<void> {
  for (const options of columns) {
    if (await queryRunner.hasColumn(table, options.name)) continue;
    const added = new TableColumn(options);
    if (queryRunner.dataSource.options.type === 'better-sqlite3') forSqlite(added);
    await queryRunner.addColumn(table, added);
  }
}

/** Skips columns that are gone. */
export async function dropColumns(
  queryRunner: QueryRunner,
  table: string,
  columns: readonly TableColumnOptions[],
): Promise<void> {
  for (const { name } of columns.toReversed()) {
    if (await queryRunner.hasColumn(table, name)) await queryRunner.dropColumn(table, name);
  }
}

/** A counter of its own name that begins with 0; one that exists keeps its value, since it may count already. */
export async function insertCounter(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(
    `INSERT INTO user_counters (name, value) SELECT '${name}', 0 FROM (SELECT 1 AS one) AS once
     WHERE NOT EXISTS (SELECT 1 FROM user_counters AS counting WHERE counting.name = '${name}')`,
  );
}

/** Names the type of a column as the entities name it on SQLite. */
function forSqlite(column: TableColumn): void {
  dropCollation(column);
  if (column.type === 'int') column.type = 'integer';
}
