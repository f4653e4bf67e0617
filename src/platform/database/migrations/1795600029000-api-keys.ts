import { ascii, bool, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, key, optional } from './table-migration.js';

/** API keys and their fuses (ADR 20). */
export class ApiKeys1795600029000 extends TableMigration {
  readonly tables = {
    api_keys: {
      columns: {
        id: key(uuid()),
        key_hash: ascii(64),
        name: text(255),
        created: time(),
        expires: optional(time()),
        revoked: optional(time()),
        last_used: optional(time()),
        scopes: optional(longText()),
        networks: optional(longText()),
        ignores_unknown_fields: bool(),
        maker_kind: ascii(10),
        maker_id: optional(uuid()),
        last_address: optional(text(64)),
        profile: optional(ascii(16)),
      },
      unique: { uq_api_keys_hash: ['key_hash'] },
    },
    key_deactivations: {
      withoutRowid: true,
      columns: { key_id: key(uuid()), time: key(time()), user_uuid: key(uuid()) },
      indices: { ix_key_deactivations_time: ['time'] },
    },
    key_fuses: {
      withoutRowid: true,
      columns: { key_id: key(uuid()), blown: optional(time()), open_until: optional(time()) },
    },
  };
}
