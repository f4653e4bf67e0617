import type { MigrationInterface, QueryRunner } from 'typeorm';
import { insertCounter } from './table-columns.js';

/** Nothing counts the sets of changes any more: a row that every change of a user locked (ADR 7). */
export class NoChanges1764000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DELETE FROM user_counters WHERE name = 'changes'");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await insertCounter(queryRunner, 'changes');
  }
}
