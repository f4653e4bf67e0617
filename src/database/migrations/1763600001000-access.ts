import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import {
  ascii,
  createTables,
  dropTables,
  integer,
  key,
  longText,
  optional,
  text,
  time,
  uuid,
} from './table-columns.js';

const TABLES = [
  new Table({
    name: 'sessions',
    columns: [
      uuid('id', key),
      ascii(64)('token_hash'),
      uuid('user_uuid'),
      time('created'),
      time('expires'),
      time('absolute_expires'),
      text(64)('ip'),
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
    columns: [ascii(64)('scope', key), integer('failures'), time('window_ends')],
    indices: [{ name: 'ix_login_failures_window', columnNames: ['window_ends'] }],
  }),
  new Table({
    name: 'api_keys',
    columns: [
      uuid('id', key),
      ascii(64)('key_hash'),
      text(255)('name'),
      time('created'),
      time('expires', optional),
      time('revoked', optional),
      time('last_used', optional),
    ],
    indices: [{ name: 'uq_api_keys_hash', columnNames: ['key_hash'], isUnique: true }],
  }),
  new Table({
    name: 'audit_events',
    columns: [
      uuid('id', key),
      time('time'),
      ascii(16)('actor_kind'),
      uuid('actor_id', optional),
      ascii(64)('action'),
      ascii(16)('target_kind'),
      uuid('target_id'),
      longText('changes'),
      ascii(64)('request_id'),
      text(64)('ip'),
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
