import { ascii, bool, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, define, key, optional } from './table-migration.js';

/** API keys and their fuses (ADR 20). */
export class ApiKeys1795600003000 extends TableMigration {
  readonly tables = [
    {
      name: 'api_keys',
      columns: [
        define('id', uuid(), key),
        define('key_hash', ascii(64)),
        define('name', text(255)),
        define('created', time()),
        define('expires', time(), optional),
        define('revoked', time(), optional),
        define('last_used', time(), optional),
        define('scopes', longText(), optional),
        define('networks', longText(), optional),
        define('ignores_unknown_fields', bool()),
        define('maker_kind', ascii(10), optional),
        define('maker_id', uuid(), optional),
        define('last_address', text(64), optional),
        define('profile', ascii(16), optional),
      ],
      indices: [{ name: 'uq_api_keys_hash', columnNames: ['key_hash'], isUnique: true }],
    },
    {
      name: 'key_deactivations',
      withoutRowid: true,
      columns: [define('key_id', uuid(), key), define('time', time(), key), define('user_uuid', uuid(), key)],
      indices: [{ name: 'ix_key_deactivations_time', columnNames: ['time'] }],
    },
    {
      name: 'key_fuses',
      withoutRowid: true,
      columns: [
        define('key_id', uuid(), key),
        define('blown', time(), optional),
        define('open_until', time(), optional),
      ],
    },
  ];
}
