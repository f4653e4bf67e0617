import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, longText, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key } from './table-columns.js';

const REQUESTS = new Table({
  name: 'idempotent_requests',
  withoutRowid: true,
  columns: [
    column('id', ascii(64), key),
    column('request_mac', ascii(64)),
    column('answer', longText()),
    column('created', time()),
  ],
  indices: [{ name: 'ix_idempotent_requests_created', columnNames: ['created'] }],
});

const KEYS = new Table({
  name: 'idempotency_keys',
  withoutRowid: true,
  columns: [
    column('id', ascii(64), key),
    column('body_mac', ascii(64)),
    column('user_uuid', uuid()),
    column('created', time()),
  ],
  indices: [{ name: 'ix_idempotency_keys_created', columnNames: ['created'] }],
});

/** Every unsafe request may carry a key: whole answers take the place of the uuids of new users (ADR 16). */
export class IdempotentRequests1764300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, [REQUESTS]);
    if (!(await queryRunner.hasTable(KEYS.name))) return; // a killed attempt has come so far
    // The keys of the last day keep working: a row whose answer is a uuid is one of them.
    await queryRunner.query(
      `INSERT INTO idempotent_requests (id, request_mac, answer, created)
       SELECT id, body_mac, user_uuid, created FROM idempotency_keys
       WHERE id NOT IN (SELECT id FROM idempotent_requests)`,
    );
    await dropTables(queryRunner, [KEYS]);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, [KEYS]);
    await dropTables(queryRunner, [REQUESTS]);
  }
}
