import type { MigrationInterface, QueryRunner } from 'typeorm';
import { time } from '../engine/columns.js';
import { addColumns, column, dropColumns, optional } from './table-columns.js';

const TABLE = 'import_runs';
const COLUMNS = [column('alerted', time(), optional)];

/** When operators were told that a run waits for them. */
export class ImportAlerts1764850000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumns(queryRunner, TABLE, COLUMNS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropColumns(queryRunner, TABLE, COLUMNS);
  }
}
