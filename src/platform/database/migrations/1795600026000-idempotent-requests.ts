import { ascii, longText, time } from '../engine/columns.js';
import { TableMigration, defineColumn, key } from './table-migration.js';

/** Responses to requests with an `Idempotency-Key` (ADR 16). */
export class IdempotentRequests1795600026000 extends TableMigration {
  readonly tables = [
    {
      name: 'idempotent_requests',
      withoutRowid: true,
      columns: [
        defineColumn('id', ascii(64), key),
        defineColumn('request_mac', ascii(64)),
        defineColumn('answer', longText()),
        defineColumn('created', time()),
      ],
      indices: [{ name: 'ix_idempotent_requests_created', columnNames: ['created'] }],
    },
  ];
}
