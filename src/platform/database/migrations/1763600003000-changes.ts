import type { MigrationInterface, QueryRunner } from 'typeorm';
import { insertCounter } from './table-columns.js';

/** Counts every set of changes of users: what was learnt of their order holds until it moves (ADR 0007). */
export class Changes1763600003000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await insertCounter(queryRunner, 'changes');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DELETE FROM user_counters WHERE name = 'changes'");
  }
}
