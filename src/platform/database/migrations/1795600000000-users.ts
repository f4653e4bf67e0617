import type { QueryRunner } from 'typeorm';
import { ascii, bool, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key, optional } from './table-migration.js';

const index = (name: string, field: string) => ({ name: `ix_users_${name}`, columnNames: [field, 'uuid'] });

/** Names of the user counts. A count is the sum of its rows (ADR 7). */
const COUNTS = ['Active', 'Blocked', 'webmasters'];
/** Names of the rules that lock a row, so that two changes that affect the same rule never run at once. */
const RULES = ['managers', 'webmasters'];

/** Users (ADR 3), their look-up tables, their counts, and deleted users (ADR 23). */
export class Users1795600000000 extends TableMigration {
  readonly tables = [
    {
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
        column('hide_email', bool()),
        column('hide_phone_numbers', bool()),
        column('managed_by', text(64), optional),
        column('created', time()),
        column('updated', time()),
        column('last_access', time(), optional),
        column('version', int()),
        column('managed_part', text(64), optional),
        column('blocked_by', text(64), optional),
        column('attributes', longText(), optional),
        column('group_roles', longText(), optional),
      ],
      indices: [
        index('username', 'username_key'),
        index('email', 'email_key'),
        index('external_id', 'external_id_key'),
        index('firstname', 'firstname_sort'),
        index('surname', 'surname_sort'),
        index('status', 'status'),
        index('created', 'created'),
        index('updated', 'updated'),
        index('manager', 'manager_uuid'),
        index('managed_by', 'managed_by'),
      ],
    },
    {
      name: 'user_identifiers',
      withoutRowid: true,
      columns: [column('identifier', text(320), key), column('user_uuid', uuid())],
    },
    {
      name: 'user_roles',
      withoutRowid: true,
      columns: [column('role', text(64), key), column('user_uuid', uuid(), key)],
    },
    {
      name: 'user_words',
      withoutRowid: true,
      columns: [
        column('word', text(255), key),
        column('user_uuid', uuid(), key),
        column('weight', int()),
        column('public_weight', int()),
      ],
    },
    {
      name: 'user_values',
      withoutRowid: true,
      columns: [
        column('attribute', ascii(32), key),
        column('value_key', text(255), key),
        column('user_uuid', uuid(), key),
      ],
    },
    {
      name: 'user_counts',
      withoutRowid: true,
      columns: [column('id', uuid(), key), column('name', ascii(32)), column('value', int())],
    },
    {
      name: 'user_rules',
      withoutRowid: true,
      columns: [column('name', ascii(32), key), column('changes', int())],
    },
    {
      name: 'deleted_users',
      columns: [
        column('uuid', uuid(), key),
        column('deleted', time()),
        column('external_id', text(255)),
        column('document', longText()), // not `row`, which is a reserved word of MySQL
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
