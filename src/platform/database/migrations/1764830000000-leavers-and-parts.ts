import type { MigrationInterface, QueryRunner } from 'typeorm';
import { text } from '../engine/columns.js';
import { addColumns, column, dropColumns, optional } from './table-columns.js';

const OF_USERS = [column('managed_part', text(64), optional), column('blocked_by', text(64), optional)];
const OF_RUNS = [column('part', text(64), optional)];

/** Why a user is blocked, so that who returns to a file is found; and data sets that come in several files. */
export class LeaversAndParts1764830000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumns(queryRunner, 'users', OF_USERS);
    await addColumns(queryRunner, 'import_runs', OF_RUNS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropColumns(queryRunner, 'import_runs', OF_RUNS);
    await dropColumns(queryRunner, 'users', OF_USERS);
  }
}
