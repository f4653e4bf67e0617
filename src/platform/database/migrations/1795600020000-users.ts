import type { QueryRunner } from 'typeorm';
import { ascii, bool, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, insertOnce, key, optional } from './table-migration.js';

/** Names of the user counts. A count may be divided among several rows (ADR 7). */
const COUNTS = ['Active', 'Blocked', 'webmasters'];
/**
 * Names of the rules that have a row in `user_rules`. A change locks the row of each rule that it affects, so that only
 * one change at a time affects a rule.
 */
const RULES = ['managers', 'webmasters'];

/** Users (ADR 3), their look-up tables, their counts, deleted users (ADR 23), and released usernames. */
export class Users1795600020000 extends TableMigration {
  readonly tables = {
    users: {
      columns: {
        uuid: key(uuid()),
        username: text(254),
        username_key: text(255),
        email: text(254),
        email_key: text(255),
        external_id: text(255),
        external_id_key: optional(text(255)),
        roles: longText(),
        status: text(8),
        phone: text(64),
        mobile: text(64),
        firstname: text(255),
        firstname_sort: text(255),
        middle_name: text(255),
        surname: text(255),
        surname_sort: text(255),
        known_as: text(255),
        authname: optional(longText()),
        password_hash: optional(text(255)),
        user_avatar: text(2048),
        manager_uuid: optional(uuid()),
        about_me: longText(),
        social_media: optional(longText()),
        hide_email: bool(),
        hide_phone_numbers: bool(),
        managed_by: optional(text(64)),
        created: time(),
        updated: time(),
        last_access: optional(time()),
        version: int(),
        managed_part: optional(text(64)),
        blocked_by: optional(text(64)),
        attributes: optional(longText()),
        group_roles: optional(longText()),
        password_change_required: bool(),
      },
      indices: {
        ix_users_username: ['username_key', 'uuid'],
        ix_users_email: ['email_key', 'uuid'],
        ix_users_external_id: ['external_id_key', 'uuid'],
        ix_users_firstname: ['firstname_sort', 'uuid'],
        ix_users_surname: ['surname_sort', 'uuid'],
        ix_users_status: ['status', 'uuid'],
        ix_users_created: ['created', 'uuid'],
        ix_users_updated: ['updated', 'uuid'],
        ix_users_manager: ['manager_uuid', 'uuid'],
        ix_users_managed_by: ['managed_by', 'uuid'],
      },
    },
    user_identifiers: { withoutRowid: true, columns: { identifier: key(text(320)), user_uuid: uuid() } },
    user_roles: { withoutRowid: true, columns: { role: key(text(64)), user_uuid: key(uuid()) } },
    user_words: {
      withoutRowid: true,
      columns: { word: key(text(255)), user_uuid: key(uuid()), weight: int(), public_weight: int() },
    },
    user_values: {
      withoutRowid: true,
      columns: { attribute: key(ascii(32)), value_key: key(text(255)), user_uuid: key(uuid()) },
    },
    user_counts: { withoutRowid: true, columns: { id: key(uuid()), name: ascii(32), value: int() } },
    user_rules: { withoutRowid: true, columns: { name: key(ascii(32)), changes: int() } },
    deleted_users: {
      columns: {
        uuid: key(uuid()),
        deleted: time(),
        external_id_key: optional(text(255)),
        reverted_dataset: optional(text(64)),
        document: longText(), // `row` would be a reserved word of MySQL
      },
      indices: {
        ix_deleted_users_deleted: ['deleted', 'uuid'],
        ix_deleted_users_external_id: ['external_id_key', 'uuid'],
      },
    },
    released_usernames: {
      withoutRowid: true,
      columns: { username_hash: key(ascii(64)), owner_hash: ascii(64), released: time() },
      indices: { ix_released_usernames_released: ['released'] },
    },
  };

  override async up(queryRunner: QueryRunner): Promise<void> {
    await super.up(queryRunner);
    for (const name of RULES) await insertOnce(queryRunner, 'user_rules', `'${name}', 0`, `name = '${name}'`);
    for (const [number, name] of COUNTS.entries()) {
      const id = `00000000-0000-7000-8000-00000000000${number}`;
      await insertOnce(queryRunner, 'user_counts', `'${id}', '${name}', 0`, `id = '${id}'`);
    }
  }
}
