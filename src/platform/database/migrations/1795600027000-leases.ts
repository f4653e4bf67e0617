import { ascii, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, key } from './table-migration.js';

export class Leases1795600027000 extends TableMigration {
  readonly tables = [
    {
      name: 'leases',
      withoutRowid: true,
      columns: [
        defineColumn('name', ascii(32), key),
        defineColumn('owner', uuid()),
        defineColumn('until', time()),
      ],
    },
  ];
}
