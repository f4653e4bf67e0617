import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ascii, longText, text, uuid } from '../engine/columns.js';
import { addColumnOnce, defineColumn, optional } from './table-migration.js';

const COLUMNS = [
  ['import_runs', defineColumn('corrects', uuid(), optional)],
  ['import_runs', defineColumn('causes', longText(), optional)],
  ['import_runs', defineColumn('delimiter', ascii(1), optional)],
  ['import_rows', defineColumn('manager', text(255), optional)],
] as const;

/** Adds the corrected run, the causes of failures and the delimiter to runs, and the new manager to rows. */
export class ImportCorrections1795600014000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, column] of COLUMNS) await addColumnOnce(queryRunner, table, column);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, { name }] of COLUMNS)
      if (await queryRunner.hasColumn(table, name)) await queryRunner.dropColumn(table, name);
  }
}
