import type { QueryRunner } from 'typeorm';
import { ascii, bool, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, insertOnce, key, optional } from './table-migration.js';

const buildIndex = (name: string, field: string) => ({
  name: `ix_users_${name}`,
  columnNames: [field, 'uuid'],
});

/** Names of the user counts. A count may be divided among several rows (ADR 7). */
const COUNTS = ['Active', 'Blocked', 'webmasters'];
/**
 * Names of the rules that have a row in `user_rules`. A change locks the row of each rule that it affects, so that only
 * one change at a time affects a rule.
 */
const RULES = ['managers', 'webmasters'];

/** Users (ADR 3), their look-up tables, their counts, deleted users (ADR 23), and released usernames. */
export class Users1795600020000 extends TableMigration {
  readonly tables = [
    {
      name: 'users',
      columns: [
        defineColumn('uuid', uuid(), key),
        defineColumn('username', text(254)),
        defineColumn('username_key', text(255)),
        defineColumn('email', text(254)),
        defineColumn('email_key', text(255)),
        defineColumn('external_id', text(255)),
        defineColumn('external_id_key', text(255), optional),
        defineColumn('roles', longText()),
        defineColumn('status', text(8)),
        defineColumn('phone', text(64)),
        defineColumn('mobile', text(64)),
        defineColumn('firstname', text(255)),
        defineColumn('firstname_sort', text(255)),
        defineColumn('middle_name', text(255)),
        defineColumn('surname', text(255)),
        defineColumn('surname_sort', text(255)),
        defineColumn('known_as', text(255)),
        defineColumn('authname', longText(), optional),
        defineColumn('password_hash', text(255), optional),
        defineColumn('user_avatar', text(2048)),
        defineColumn('manager_uuid', uuid(), optional),
        defineColumn('about_me', longText()),
        defineColumn('social_media', longText(), optional),
        defineColumn('hide_email', bool()),
        defineColumn('hide_phone_numbers', bool()),
        defineColumn('managed_by', text(64), optional),
        defineColumn('created', time()),
        defineColumn('updated', time()),
        defineColumn('last_access', time(), optional),
        defineColumn('version', int()),
        defineColumn('managed_part', text(64), optional),
        defineColumn('blocked_by', text(64), optional),
        defineColumn('attributes', longText(), optional),
        defineColumn('group_roles', longText(), optional),
        defineColumn('password_change_required', bool()),
      ],
      indices: [
        buildIndex('username', 'username_key'),
        buildIndex('email', 'email_key'),
        buildIndex('external_id', 'external_id_key'),
        buildIndex('firstname', 'firstname_sort'),
        buildIndex('surname', 'surname_sort'),
        buildIndex('status', 'status'),
        buildIndex('created', 'created'),
        buildIndex('updated', 'updated'),
        buildIndex('manager', 'manager_uuid'),
        buildIndex('managed_by', 'managed_by'),
      ],
    },
    {
      name: 'user_identifiers',
      withoutRowid: true,
      columns: [defineColumn('identifier', text(320), key), defineColumn('user_uuid', uuid())],
    },
    {
      name: 'user_roles',
      withoutRowid: true,
      columns: [defineColumn('role', text(64), key), defineColumn('user_uuid', uuid(), key)],
    },
    {
      name: 'user_words',
      withoutRowid: true,
      columns: [
        defineColumn('word', text(255), key),
        defineColumn('user_uuid', uuid(), key),
        defineColumn('weight', int()),
        defineColumn('public_weight', int()),
      ],
    },
    {
      name: 'user_values',
      withoutRowid: true,
      columns: [
        defineColumn('attribute', ascii(32), key),
        defineColumn('value_key', text(255), key),
        defineColumn('user_uuid', uuid(), key),
      ],
    },
    {
      name: 'user_counts',
      withoutRowid: true,
      columns: [
        defineColumn('id', uuid(), key),
        defineColumn('name', ascii(32)),
        defineColumn('value', int()),
      ],
    },
    {
      name: 'user_rules',
      withoutRowid: true,
      columns: [defineColumn('name', ascii(32), key), defineColumn('changes', int())],
    },
    {
      name: 'deleted_users',
      columns: [
        defineColumn('uuid', uuid(), key),
        defineColumn('deleted', time()),
        defineColumn('external_id_key', text(255), optional),
        defineColumn('reverted_dataset', text(64), optional),
        defineColumn('document', longText()), // not `row`, which is a reserved word of MySQL
      ],
      indices: [
        { name: 'ix_deleted_users_deleted', columnNames: ['deleted', 'uuid'] },
        { name: 'ix_deleted_users_external_id', columnNames: ['external_id_key', 'uuid'] },
      ],
    },
    {
      name: 'released_usernames',
      withoutRowid: true,
      columns: [
        defineColumn('username_hash', ascii(64), key),
        defineColumn('owner_hash', ascii(64)),
        defineColumn('released', time()),
      ],
      indices: [{ name: 'ix_released_usernames_released', columnNames: ['released'] }],
    },
  ];

  override async up(queryRunner: QueryRunner): Promise<void> {
    await super.up(queryRunner);
    for (const name of RULES) await insertOnce(queryRunner, 'user_rules', `'${name}', 0`, `name = '${name}'`);
    for (const [number, name] of COUNTS.entries()) {
      const id = `00000000-0000-7000-8000-00000000000${number}`;
      await insertOnce(queryRunner, 'user_counts', `'${id}', '${name}', 0`, `id = '${id}'`);
    }
  }
}
