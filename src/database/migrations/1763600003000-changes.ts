import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts every set of changes of users: what was learnt of their order holds until it moves (ADR 0007). */
export class Changes1763600003000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await this.down(queryRunner); // a killed attempt may have left it
    await queryRunner.query("INSERT INTO user_counters (name, value) VALUES ('changes', 0)");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DELETE FROM user_counters WHERE name = 'changes'");
  }
}
