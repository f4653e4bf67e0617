import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  type TableColumn,
  type TableColumnOptions,
} from 'typeorm';
import { type ColumnType, removeCollation } from '../engine/columns.js';

type ColumnOptions = ColumnType & Pick<TableColumnOptions, 'isPrimary' | 'isNullable'>;

export const key = (type: ColumnType): ColumnOptions => ({ ...type, isPrimary: true });

export function optional(type: ColumnType): ColumnOptions {
  const { default: _, ...nullable } = type;
  return { ...nullable, isNullable: true };
}

/** A table to create. Columns are NOT NULL unless they are `optional`. */
interface TableDefinition {
  withoutRowid?: boolean;
  columns: Readonly<Record<string, ColumnOptions>>;
  indices?: Readonly<Record<string, string[]>>;
  unique?: Readonly<Record<string, string[]>>;
}

/** Migration that creates tables. A revert drops them. */
export abstract class TableMigration implements MigrationInterface {
  abstract readonly tables: Readonly<Record<string, TableDefinition>>;

  /**
   * Creates the missing tables. Skips tables that a killed process has created, because DDL is not transactional on
   * MariaDB.
   */
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, { withoutRowid = false, columns, indices = {}, unique = {} }] of Object.entries(
      this.tables,
    )) {
      const table = new Table({
        name,
        withoutRowid,
        columns: Object.entries(columns).map(([column, options]) => ({ name: column, ...options })),
        indices: [...toIndices(indices, false), ...toIndices(unique, true)],
      });
      if (queryRunner.dataSource.options.type === 'better-sqlite3') table.columns.forEach(adaptToSqlite);
      await queryRunner.createTable(table, true);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(this.tables).toReversed()) await queryRunner.dropTable(name, true);
  }
}

const toIndices = (indices: Readonly<Record<string, string[]>>, isUnique: boolean) =>
  Object.entries(indices).map(([name, columnNames]) => ({ name, columnNames, isUnique }));

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
