import { ascii, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key } from './table-migration.js';

/** Leases for work that only one instance may do at a time. */
export class Leases1795600007000 extends TableMigration {
  readonly tables = [
    {
      name: 'leases',
      withoutRowid: true,
      columns: [column('name', ascii(32), key), column('owner', uuid()), column('until', time())],
    },
  ];
}
