import { type MigrationInterface, type QueryRunner, Table, TableColumn } from 'typeorm';
import { dropCollation, longText, text, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

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

const PROFILE = column('profile', longText(), optional);

/** How the files of a source are read, and the copy of it that a run keeps (ADR 22). */
export class ImportProfiles1764820000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    if (await queryRunner.hasColumn('import_runs', PROFILE.name)) return; // a killed attempt has come so far
    const added = new TableColumn(PROFILE);
    if (queryRunner.dataSource.options.type === 'better-sqlite3') dropCollation(added);
    await queryRunner.addColumn('import_runs', added);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('import_runs', PROFILE.name))
      await queryRunner.dropColumn('import_runs', PROFILE.name);
    await dropTables(queryRunner, TABLES);
  }
}
