import { type MigrationInterface, type QueryRunner, TableColumn, TableIndex } from 'typeorm';
import { integer } from '../engine/columns.js';
import { column, forSqlite, optional } from './table-columns.js';

const ADDED = [
  column('line_ended', integer(), { ...optional, default: null }),
  column('phase_percent', integer()),
];
const INDEX = new TableIndex({ name: 'ix_import_rows_code', columnNames: ['run_id', 'code', 'line'] });

/** Whether a file ended with a line end, where the progress of a phase began, and the rows of a run by their code. */
export class ImportReport1764840000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const options of ADDED) {
      if (await queryRunner.hasColumn('import_runs', options.name)) continue; // a killed attempt has come so far
      const added = new TableColumn(options);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') forSqlite(added);
      await queryRunner.addColumn('import_runs', added);
    }
    if (!(await hasIndex(queryRunner))) await queryRunner.createIndex('import_rows', INDEX);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await hasIndex(queryRunner)) await queryRunner.dropIndex('import_rows', INDEX);
    for (const { name } of ADDED) {
      if (await queryRunner.hasColumn('import_runs', name)) await queryRunner.dropColumn('import_runs', name);
    }
  }
}

async function hasIndex(queryRunner: QueryRunner): Promise<boolean> {
  const table = await queryRunner.getTable('import_rows');
  return table?.indices.some(({ name }) => name === INDEX.name) ?? false;
}
