import { type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';
import { time } from '../engine/columns.js';
import { column, optional } from './table-columns.js';

const TABLE = 'import_runs';
const ALERTED = column('alerted', time(), optional);

/** When operators were told that a run waits for them. */
export class ImportAlerts1764850000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn(TABLE, ALERTED.name)) return; // a killed attempt has come so far
    await queryRunner.addColumn(TABLE, new TableColumn(ALERTED));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn(TABLE, ALERTED.name)) await queryRunner.dropColumn(TABLE, ALERTED.name);
  }
}
