import { ascii, int, text, time, uuid } from '../engine/columns.js';
import { TableMigration, define, key } from './table-migration.js';

/** Sessions, failed logins, and the networks from which users have logged in. */
export class Sessions1795600002000 extends TableMigration {
  readonly tables = [
    {
      name: 'sessions',
      columns: [
        define('id', uuid(), key),
        define('token_hash', ascii(64)),
        define('user_uuid', uuid()),
        define('created', time()),
        define('expires', time()),
        define('absolute_expires', time()),
        define('ip', text(64)),
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
      columns: [define('scope', ascii(64), key), define('failures', int()), define('window_ends', time())],
      indices: [{ name: 'ix_login_failures_window', columnNames: ['window_ends'] }],
    },
    {
      name: 'login_addresses',
      withoutRowid: true,
      columns: [
        define('user_uuid', uuid(), key),
        define('network', text(64), key),
        define('last_login', time()),
      ],
      indices: [{ name: 'ix_login_addresses_last', columnNames: ['last_login'] }],
    },
  ];
}
