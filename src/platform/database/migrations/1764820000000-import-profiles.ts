import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { longText, text, time, uuid } from '../engine/columns.js';
import { addColumns, column, createTables, dropColumns, dropTables, key, optional } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'import_profiles',
    withoutRowid: true,
    columns: [
      column('name', text(64), key),
      column('id', uuid()),
      column('document', longText()),
      column('created', time()),
      column('updated', time()),
    ],
  }),
];

const RUNS = 'import_runs';
const COLUMNS = [column('profile', longText(), optional)];

/** How the files of a source are read, and the copy of it that a run keeps (ADR 22). */
export class ImportProfiles1764820000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    await addColumns(queryRunner, RUNS, COLUMNS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropColumns(queryRunner, RUNS, COLUMNS);
    await dropTables(queryRunner, TABLES);
  }
}
