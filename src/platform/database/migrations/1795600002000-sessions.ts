import { ascii, int, text, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key } from './table-migration.js';

/** Sessions, failed logins, and the networks from which users have logged in. */
export class Sessions1795600002000 extends TableMigration {
  readonly tables = [
    {
      name: 'sessions',
      columns: [
        column('id', uuid(), key),
        column('token_hash', ascii(64)),
        column('user_uuid', uuid()),
        column('created', time()),
        column('expires', time()),
        column('absolute_expires', time()),
        column('ip', text(64)),
      ],
      indices: [
        { name: 'uq_sessions_token', columnNames: ['token_hash'], isUnique: true },
        { name: 'ix_sessions_user', columnNames: ['user_uuid'] },
        { name: 'ix_sessions_expires', columnNames: ['expires'] },
      ],
    },
    {
      name: 'login_failures',
      withoutRowid: true,
      columns: [column('scope', ascii(64), key), column('failures', int()), column('window_ends', time())],
      indices: [{ name: 'ix_login_failures_window', columnNames: ['window_ends'] }],
    },
    {
      name: 'login_addresses',
      withoutRowid: true,
      columns: [
        column('user_uuid', uuid(), key),
        column('network', text(64), key),
        column('last_login', time()),
      ],
      indices: [{ name: 'ix_login_addresses_last', columnNames: ['last_login'] }],
    },
  ];
}
