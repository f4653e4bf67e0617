import { ascii, int, text, time, uuid } from '../engine/columns.js';
import { TableMigration, key, optional } from './table-migration.js';

export class Sessions1795600022000 extends TableMigration {
  readonly tables = {
    sessions: {
      columns: {
        id: key(uuid()),
        token_hash: ascii(64),
        user_uuid: uuid(),
        created: time(),
        expires: time(),
        absolute_expires: time(),
        ip: text(64),
        confirmed: optional(time()),
      },
      unique: { uq_sessions_token: ['token_hash'] },
      indices: { ix_sessions_user: ['user_uuid'], ix_sessions_expires: ['expires'] },
    },
    login_failures: {
      withoutRowid: true,
      columns: { scope: key(ascii(64)), failures: int(), window_ends: time() },
      indices: { ix_login_failures_window: ['window_ends'] },
    },
    login_devices: {
      withoutRowid: true,
      columns: { token_hash: key(ascii(64)), user_uuid: uuid(), expires: time() },
      indices: { ix_login_devices_user: ['user_uuid'], ix_login_devices_expires: ['expires'] },
    },
  };
}
