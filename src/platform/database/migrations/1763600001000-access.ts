import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer, longText, text, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'sessions',
    columns: [
      column('id', uuid(), key),
      column('token_hash', ascii(64)),
      column('user_uuid', uuid()),
      column('created', time()),
      column('expires', time()),
      column('absolute_expires', time()),
      column('ip', text(64)),
    ],
    indices: [
      { name: 'uq_sessions_token', columnNames: ['token_hash'], isUnique: true },
      { name: 'ix_sessions_user', columnNames: ['user_uuid'] },
      { name: 'ix_sessions_expires', columnNames: ['expires'] },
    ],
  }),
  new Table({
    name: 'login_failures',
    withoutRowid: true,
    columns: [column('scope', ascii(64), key), column('failures', integer()), column('window_ends', time())],
    indices: [{ name: 'ix_login_failures_window', columnNames: ['window_ends'] }],
  }),
  new Table({
    name: 'api_keys',
    columns: [
      column('id', uuid(), key),
      column('key_hash', ascii(64)),
      column('name', text(255)),
      column('created', time()),
      column('expires', time(), optional),
      column('revoked', time(), optional),
      column('last_used', time(), optional),
    ],
    indices: [{ name: 'uq_api_keys_hash', columnNames: ['key_hash'], isUnique: true }],
  }),
  new Table({
    name: 'audit_events',
    columns: [
      column('id', uuid(), key),
      column('time', time()),
      column('actor_kind', ascii(16)),
      column('actor_id', uuid(), optional),
      column('action', ascii(64)),
      column('target_kind', ascii(16)),
      column('target_id', uuid()),
      column('changes', longText()),
      column('request_id', ascii(64)),
      column('ip', text(64)),
    ],
    indices: [
      { name: 'ix_audit_events_target', columnNames: ['target_id', 'id'] },
      { name: 'ix_audit_events_actor', columnNames: ['actor_id', 'id'] },
      { name: 'ix_audit_events_action', columnNames: ['action', 'id'] },
    ],
  }),
];

export class Access1763600001000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
