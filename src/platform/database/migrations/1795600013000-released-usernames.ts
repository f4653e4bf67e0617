import { ascii, time } from '../engine/columns.js';
import { TableMigration, defineColumn, key } from './table-migration.js';

/** Creates the table of usernames that users gave up, which imports do not give to other users for 180 days. */
export class ReleasedUsernames1795600013000 extends TableMigration {
  readonly tables = [
    {
      name: 'released_usernames',
      withoutRowid: true,
      columns: [
        defineColumn('username_hash', ascii(64), key),
        defineColumn('owner_hash', ascii(64)),
        defineColumn('released', time()),
      ],
      indices: [{ name: 'ix_released_usernames_released', columnNames: ['released'] }],
    },
  ];
}
