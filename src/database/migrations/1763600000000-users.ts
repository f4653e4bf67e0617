import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import {
  ascii,
  createTables,
  dropTables,
  flag,
  integer,
  key,
  longText,
  optional,
  text,
  time,
  uuid,
} from './table-columns.js';

const index = (name: string, ...columnNames: string[]) => ({ name: `ix_users_${name}`, columnNames });

const TABLES = [
  new Table({
    name: 'users',
    columns: [
      uuid('uuid', key),
      text(254)('username'),
      text(255)('username_key'),
      text(254)('email'),
      text(255)('email_key'),
      text(255)('external_id'),
      text(255)('external_id_key', optional),
      longText('roles'),
      text(8)('status'),
      text(64)('phone'),
      text(64)('mobile'),
      text(255)('firstname'),
      text(255)('firstname_sort'),
      text(255)('middle_name'),
      text(255)('surname'),
      text(255)('surname_sort'),
      text(255)('known_as'),
      longText('authname', optional),
      text(255)('password_hash', optional),
      text(2048)('user_avatar'),
      uuid('manager_uuid', optional),
      longText('about_me'),
      longText('social_media', optional),
      flag('hide_email'),
      flag('hide_phone_numbers'),
      text(64)('managed_by', optional),
      time('created'),
      time('updated'),
      time('last_access', optional),
      integer('version'),
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
    columns: [text(320)('identifier', key), uuid('user_uuid')],
  }),
  new Table({
    name: 'user_roles',
    withoutRowid: true,
    columns: [text(64)('role', key), uuid('user_uuid', key)],
    indices: [{ name: 'ix_user_roles_user', columnNames: ['user_uuid'] }],
  }),
  new Table({
    name: 'user_words',
    withoutRowid: true,
    columns: [text(255)('word', key), uuid('user_uuid', key), integer('weight'), integer('public_weight')],
    indices: [{ name: 'ix_user_words_user', columnNames: ['user_uuid'] }],
  }),
  new Table({
    name: 'user_counters',
    withoutRowid: true,
    columns: [text(32)('name', key), integer('value')],
  }),
  new Table({
    name: 'idempotency_keys',
    withoutRowid: true,
    columns: [ascii(64)('id', key), ascii(64)('body_mac'), uuid('user_uuid'), time('created')],
    indices: [{ name: 'ix_idempotency_keys_created', columnNames: ['created'] }],
  }),
];

export class Users1763600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    await queryRunner.query('DELETE FROM user_counters'); // a killed attempt may have left them; nobody has counted yet
    await queryRunner.query(
      `INSERT INTO user_counters (name, value)
       VALUES ('Active', 0), ('Blocked', 0), ('webmasters', 0), ('manager_changes', 0)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
