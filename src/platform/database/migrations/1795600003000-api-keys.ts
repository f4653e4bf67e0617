import { ascii, bool, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key, optional } from './table-migration.js';

/** API keys and their fuses (ADR 20). */
export class ApiKeys1795600003000 extends TableMigration {
  readonly tables = [
    {
      name: 'api_keys',
      columns: [
        column('id', uuid(), key),
        column('key_hash', ascii(64)),
        column('name', text(255)),
        column('created', time()),
        column('expires', time(), optional),
        column('revoked', time(), optional),
        column('last_used', time(), optional),
        column('scopes', longText(), optional),
        column('networks', longText(), optional),
        column('ignores_unknown_fields', bool()),
        column('maker_kind', ascii(10), optional),
        column('maker_id', uuid(), optional),
        column('last_address', text(64), optional),
        column('profile', ascii(16), optional),
      ],
      indices: [{ name: 'uq_api_keys_hash', columnNames: ['key_hash'], isUnique: true }],
    },
    {
      name: 'key_deactivations',
      withoutRowid: true,
      columns: [column('key_id', uuid(), key), column('time', time(), key), column('user_uuid', uuid(), key)],
      indices: [{ name: 'ix_key_deactivations_time', columnNames: ['time'] }],
    },
    {
      name: 'key_fuses',
      withoutRowid: true,
      columns: [
        column('key_id', uuid(), key),
        column('blown', time(), optional),
        column('open_until', time(), optional),
      ],
    },
  ];
}
