import type { QueryRunner } from 'typeorm';
import { ascii, bool, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, define, key, optional } from './table-migration.js';

const buildIndex = (name: string, field: string) => ({
  name: `ix_users_${name}`,
  columnNames: [field, 'uuid'],
});

/**
 * Names of the user counts. Several rows may have the same name, and the sum of their values is the count (ADR 7).
 */
const COUNTS = ['Active', 'Blocked', 'webmasters'];
/**
 * Names of the rules that have a row to lock. A change locks the rows of the rules that it affects, so that two
 * changes never affect the same rule at once.
 */
const RULES = ['managers', 'webmasters'];

/** Users (ADR 3), their look-up tables, their counts, and deleted users (ADR 23). */
export class Users1795600000000 extends TableMigration {
  readonly tables = [
    {
      name: 'users',
      columns: [
        define('uuid', uuid(), key),
        define('username', text(254)),
        define('username_key', text(255)),
        define('email', text(254)),
        define('email_key', text(255)),
        define('external_id', text(255)),
        define('external_id_key', text(255), optional),
        define('roles', longText()),
        define('status', text(8)),
        define('phone', text(64)),
        define('mobile', text(64)),
        define('firstname', text(255)),
        define('firstname_sort', text(255)),
        define('middle_name', text(255)),
        define('surname', text(255)),
        define('surname_sort', text(255)),
        define('known_as', text(255)),
        define('authname', longText(), optional),
        define('password_hash', text(255), optional),
        define('user_avatar', text(2048)),
        define('manager_uuid', uuid(), optional),
        define('about_me', longText()),
        define('social_media', longText(), optional),
        define('hide_email', bool()),
        define('hide_phone_numbers', bool()),
        define('managed_by', text(64), optional),
        define('created', time()),
        define('updated', time()),
        define('last_access', time(), optional),
        define('version', int()),
        define('managed_part', text(64), optional),
        define('blocked_by', text(64), optional),
        define('attributes', longText(), optional),
        define('group_roles', longText(), optional),
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
      columns: [define('identifier', text(320), key), define('user_uuid', uuid())],
    },
    {
      name: 'user_roles',
      withoutRowid: true,
      columns: [define('role', text(64), key), define('user_uuid', uuid(), key)],
    },
    {
      name: 'user_words',
      withoutRowid: true,
      columns: [
        define('word', text(255), key),
        define('user_uuid', uuid(), key),
        define('weight', int()),
        define('public_weight', int()),
      ],
    },
    {
      name: 'user_values',
      withoutRowid: true,
      columns: [
        define('attribute', ascii(32), key),
        define('value_key', text(255), key),
        define('user_uuid', uuid(), key),
      ],
    },
    {
      name: 'user_counts',
      withoutRowid: true,
      columns: [define('id', uuid(), key), define('name', ascii(32)), define('value', int())],
    },
    {
      name: 'user_rules',
      withoutRowid: true,
      columns: [define('name', ascii(32), key), define('changes', int())],
    },
    {
      name: 'deleted_users',
      columns: [
        define('uuid', uuid(), key),
        define('deleted', time()),
        define('external_id', text(255)),
        define('document', longText()), // not `row`, which is a reserved word of MySQL
      ],
      indices: [{ name: 'ix_deleted_users_deleted', columnNames: ['deleted', 'uuid'] }],
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

/** Inserts a row unless a killed migration has already inserted it. */
async function insertOnce(runner: QueryRunner, table: string, values: string, row: string): Promise<void> {
  const found: unknown = await runner.query(`SELECT 1 FROM ${table} WHERE ${row}`);
  if (Array.isArray(found) && found.length > 0) return;
  await runner.query(`INSERT INTO ${table} VALUES (${values})`);
}
