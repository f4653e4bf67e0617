import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { integer } from '../engine/columns.js';
import { addColumns, column, dropColumns, optional } from './table-columns.js';

const RUNS = 'import_runs';
const ROWS = 'import_rows';
const ADDED = [
  column('line_ended', integer(), { ...optional, default: null }),
  column('phase_percent', integer()),
];
const INDEX = new TableIndex({ name: 'ix_import_rows_code', columnNames: ['run_id', 'code', 'line'] });

/** Whether a file ended with a line end, where the progress of a phase began, and the rows of a run by their code. */
export class ImportReport1764840000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumns(queryRunner, RUNS, ADDED);
    if (!(await hasIndex(queryRunner))) await queryRunner.createIndex(ROWS, INDEX);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await hasIndex(queryRunner)) await queryRunner.dropIndex(ROWS, INDEX);
    await dropColumns(queryRunner, RUNS, ADDED);
  }
}

async function hasIndex(queryRunner: QueryRunner): Promise<boolean> {
  const table = await queryRunner.getTable(ROWS);
  return table?.indices.some(({ name }) => name === INDEX.name) ?? false;
}
