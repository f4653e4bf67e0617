import { ascii, int, text, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, key, optional } from './table-migration.js';

export class Sessions1795600022000 extends TableMigration {
  readonly tables = [
    {
      name: 'sessions',
      columns: [
        defineColumn('id', uuid(), key),
        defineColumn('token_hash', ascii(64)),
        defineColumn('user_uuid', uuid()),
        defineColumn('created', time()),
        defineColumn('expires', time()),
        defineColumn('absolute_expires', time()),
        defineColumn('ip', text(64)),
        defineColumn('confirmed', time(), optional),
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
      columns: [
        defineColumn('scope', ascii(64), key),
        defineColumn('failures', int()),
        defineColumn('window_ends', time()),
      ],
      indices: [{ name: 'ix_login_failures_window', columnNames: ['window_ends'] }],
    },
    {
      name: 'login_devices',
      withoutRowid: true,
      columns: [
        defineColumn('token_hash', ascii(64), key),
        defineColumn('user_uuid', uuid()),
        defineColumn('expires', time()),
      ],
      indices: [
        { name: 'ix_login_devices_user', columnNames: ['user_uuid'] },
        { name: 'ix_login_devices_expires', columnNames: ['expires'] },
      ],
    },
  ];
}
