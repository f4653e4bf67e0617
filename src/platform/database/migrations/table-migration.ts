import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  type TableColumn,
  type TableColumnOptions,
  type TableOptions,
} from 'typeorm';
import { type ColumnType, removeCollation } from '../engine/columns.js';

export const key = { isPrimary: true } as const;
export const optional = { isNullable: true } as const;

/** Builds the options of a column, which is NOT NULL unless it is `optional`. */
export const defineColumn = (
  name: string,
  type: ColumnType,
  options?: Partial<TableColumnOptions>,
): TableColumnOptions => ({ name, ...type, ...options });

/** Migration that creates tables. A revert drops them. */
export abstract class TableMigration implements MigrationInterface {
  abstract readonly tables: readonly TableOptions[];

  /**
   * Creates the missing tables. Skips tables that a killed process has created, because DDL is not transactional on
   * MariaDB.
   */
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const options of this.tables) {
      const table = new Table(options);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') table.columns.forEach(adaptToSqlite);
      await queryRunner.createTable(table, true);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name } of this.tables.toReversed()) await queryRunner.dropTable(name, true);
  }
}

function adaptToSqlite(column: TableColumn): void {
  removeCollation(column);
  if (column.type === 'int') column.type = 'integer';
}

/** Inserts a row unless a killed migration has already inserted it. */
export async function insertOnce(runner: QueryRunner, table: string, values: string, where: string) {
  const found: unknown = await runner.query(`SELECT 1 FROM ${table} WHERE ${where}`);
  if (Array.isArray(found) && found.length > 0) return;
  await runner.query(`INSERT INTO ${table} VALUES (${values})`);
}
