import { ascii, longText, time } from '../engine/columns.js';
import { TableMigration, define, key } from './table-migration.js';

/** Responses to requests with an `Idempotency-Key` (ADR 16). */
export class IdempotentRequests1795600006000 extends TableMigration {
  readonly tables = [
    {
      name: 'idempotent_requests',
      withoutRowid: true,
      columns: [
        define('id', ascii(64), key),
        define('request_mac', ascii(64)),
        define('answer', longText()),
        define('created', time()),
      ],
      indices: [{ name: 'ix_idempotent_requests_created', columnNames: ['created'] }],
    },
  ];
}
