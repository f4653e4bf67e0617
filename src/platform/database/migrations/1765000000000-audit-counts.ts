import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer } from '../engine/columns.js';
import { column, createTables, dropTables, key } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'audit_counts',
    withoutRowid: true,
    columns: [
      column('seal', integer(), key),
      column('hour', integer(), key),
      column('action', ascii(64), key),
      column('value', integer()),
    ],
  }),
];

/** How many audit rows of each action the seals cover, hour by hour (ADR 28). Earlier seals are counted while the service runs. */
export class AuditCounts1765000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
