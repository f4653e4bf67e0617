import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, flag, integer, longText, text, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, insertCounter, key, optional } from './table-columns.js';

const index = (name: string, ...columnNames: string[]) => ({ name: `ix_users_${name}`, columnNames });

const TABLES = [
  new Table({
    name: 'users',
    columns: [
      column('uuid', uuid(), key),
      column('username', text(254)),
      column('username_key', text(255)),
      column('email', text(254)),
      column('email_key', text(255)),
      column('external_id', text(255)),
      column('external_id_key', text(255), optional),
      column('roles', longText()),
      column('status', text(8)),
      column('phone', text(64)),
      column('mobile', text(64)),
      column('firstname', text(255)),
      column('firstname_sort', text(255)),
      column('middle_name', text(255)),
      column('surname', text(255)),
      column('surname_sort', text(255)),
      column('known_as', text(255)),
      column('authname', longText(), optional),
      column('password_hash', text(255), optional),
      column('user_avatar', text(2048)),
      column('manager_uuid', uuid(), optional),
      column('about_me', longText()),
      column('social_media', longText(), optional),
      column('hide_email', flag()),
      column('hide_phone_numbers', flag()),
      column('managed_by', text(64), optional),
      column('created', time()),
      column('updated', time()),
      column('last_access', time(), optional),
      column('version', integer()),
    ],
    indices: [
      index('username', 'username_key', 'uuid'),
      index('email', 'email_key', 'uuid'),
      index('external_id', 'external_id_key', 'uuid'),
      index('firstname', 'firstname_sort', 'uuid'),
      index('surname', 'surname_sort', 'uuid'),
      index('status', 'status', 'uuid'),
      index('created', 'created', 'uuid'),
      index('updated', 'updated', 'uuid'),
      index('manager', 'manager_uuid', 'uuid'),
      index('managed_by', 'managed_by', 'uuid'),
    ],
  }),
  new Table({
    name: 'user_identifiers',
    withoutRowid: true,
    columns: [column('identifier', text(320), key), column('user_uuid', uuid())],
  }),
  new Table({
    name: 'user_roles',
    withoutRowid: true,
    columns: [column('role', text(64), key), column('user_uuid', uuid(), key)],
    indices: [{ name: 'ix_user_roles_user', columnNames: ['user_uuid'] }],
  }),
  new Table({
    name: 'user_words',
    withoutRowid: true,
    columns: [
      column('word', text(255), key),
      column('user_uuid', uuid(), key),
      column('weight', integer()),
      column('public_weight', integer()),
    ],
    indices: [{ name: 'ix_user_words_user', columnNames: ['user_uuid'] }],
  }),
  new Table({
    name: 'user_counters',
    withoutRowid: true,
    columns: [column('name', text(32), key), column('value', integer())],
  }),
  new Table({
    name: 'idempotency_keys',
    withoutRowid: true,
    columns: [
      column('id', ascii(64), key),
      column('body_mac', ascii(64)),
      column('user_uuid', uuid()),
      column('created', time()),
    ],
    indices: [{ name: 'ix_idempotency_keys_created', columnNames: ['created'] }],
  }),
];

export class Users1763600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    // Only those that are missing: a second attempt leaves alone what counts already.
    for (const name of ['Active', 'Blocked', 'webmasters', 'manager_changes'])
      await insertCounter(queryRunner, name);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
