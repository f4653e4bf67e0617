import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer, longText, text, time, uuid } from '../engine/columns.js';
import { addColumns, column, createTables, dropColumns, dropTables, key, optional } from './table-columns.js';

const OF_USERS = [column('attributes', longText(), optional), column('group_roles', longText(), optional)];

const TABLES = [
  new Table({
    name: 'user_values',
    withoutRowid: true,
    columns: [
      column('attribute', ascii(32), key),
      column('value_key', text(255), key),
      column('user_uuid', uuid(), key),
    ],
  }),
  new Table({
    name: 'deleted_users',
    columns: [
      column('uuid', uuid(), key),
      column('deleted', time()),
      column('external_id', text(255)),
      column('document', longText()),
    ],
    indices: [{ name: 'ix_deleted_users_deleted', columnNames: ['deleted', 'uuid'] }],
  }),
  new Table({
    name: 'user_groups',
    columns: [
      column('uuid', uuid(), key),
      column('display_name', text(255)),
      column('display_name_key', text(255)),
      column('external_id', text(255), optional),
      column('roles', longText(), optional),
      column('created', time()),
      column('updated', time()),
      column('version', integer()),
    ],
    indices: [
      { name: 'uq_user_groups_name', columnNames: ['display_name_key'], isUnique: true },
      { name: 'uq_user_groups_external_id', columnNames: ['external_id'], isUnique: true },
      { name: 'ix_user_groups_created', columnNames: ['created', 'uuid'] },
      { name: 'ix_user_groups_updated', columnNames: ['updated', 'uuid'] },
    ],
  }),
  new Table({
    name: 'group_members',
    withoutRowid: true,
    columns: [column('group_uuid', uuid(), key), column('user_uuid', uuid(), key)],
    indices: [{ name: 'ix_group_members_user', columnNames: ['user_uuid', 'group_uuid'] }],
  }),
];

/**
 * Attributes that identity providers keep of users, and the look-up of some of them; groups and the roles that they give;
 * users that were deleted (ADR 23). `row` and `groups` are words of MySQL, hence `document` and `user_groups`.
 */
export class Scim1764900000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumns(queryRunner, 'users', OF_USERS);
    await createTables(queryRunner, TABLES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
    await dropColumns(queryRunner, 'users', OF_USERS);
  }
}
