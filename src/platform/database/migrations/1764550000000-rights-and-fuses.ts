import { type MigrationInterface, type QueryRunner, Table, TableColumn } from 'typeorm';
import { ascii, dropCollation, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'key_deactivations',
    withoutRowid: true,
    columns: [column('key_id', uuid(), key), column('time', time(), key), column('user_uuid', uuid(), key)],
    indices: [{ name: 'ix_key_deactivations_time', columnNames: ['time'] }],
  }),
  new Table({
    name: 'key_fuses',
    withoutRowid: true,
    columns: [
      column('key_id', uuid(), key),
      column('blown', time(), optional),
      column('open_until', time(), optional),
    ],
  }),
];

const APPROVER = [column('approver_kind', ascii(16), optional), column('approver_id', uuid(), optional)];

/** Who approved an import, whose rights it needs; and the deactivations that the fuse of a key counts (ADR 20). */
export class RightsAndFuses1764550000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    for (const options of APPROVER) {
      if (await queryRunner.hasColumn('import_runs', options.name)) continue; // a killed attempt has come so far
      const added = new TableColumn(options);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') dropCollation(added);
      await queryRunner.addColumn('import_runs', added);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name } of APPROVER) {
      if (await queryRunner.hasColumn('import_runs', name)) await queryRunner.dropColumn('import_runs', name);
    }
    await dropTables(queryRunner, TABLES);
  }
}
