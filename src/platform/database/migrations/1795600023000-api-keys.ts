import { ascii, bool, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, key, optional } from './table-migration.js';

/** API keys and their fuses (ADR 20). */
export class ApiKeys1795600023000 extends TableMigration {
  readonly tables = [
    {
      name: 'api_keys',
      columns: [
        defineColumn('id', uuid(), key),
        defineColumn('key_hash', ascii(64)),
        defineColumn('name', text(255)),
        defineColumn('created', time()),
        defineColumn('expires', time(), optional),
        defineColumn('revoked', time(), optional),
        defineColumn('last_used', time(), optional),
        defineColumn('scopes', longText(), optional),
        defineColumn('networks', longText(), optional),
        defineColumn('ignores_unknown_fields', bool()),
        defineColumn('maker_kind', ascii(10), optional),
        defineColumn('maker_id', uuid(), optional),
        defineColumn('last_address', text(64), optional),
        defineColumn('profile', ascii(16), optional),
      ],
      indices: [{ name: 'uq_api_keys_hash', columnNames: ['key_hash'], isUnique: true }],
    },
    {
      name: 'key_deactivations',
      withoutRowid: true,
      columns: [
        defineColumn('key_id', uuid(), key),
        defineColumn('time', time(), key),
        defineColumn('user_uuid', uuid(), key),
      ],
      indices: [{ name: 'ix_key_deactivations_time', columnNames: ['time'] }],
    },
    {
      name: 'key_fuses',
      withoutRowid: true,
      columns: [
        defineColumn('key_id', uuid(), key),
        defineColumn('blown', time(), optional),
        defineColumn('open_until', time(), optional),
      ],
    },
  ];
}
