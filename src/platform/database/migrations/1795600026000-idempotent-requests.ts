import { ascii, longText, time } from '../engine/columns.js';
import { TableMigration, key } from './table-migration.js';

/** Responses to requests with an `Idempotency-Key` (ADR 16). */
export class IdempotentRequests1795600026000 extends TableMigration {
  readonly tables = {
    idempotent_requests: {
      withoutRowid: true,
      columns: { id: key(ascii(64)), request_mac: ascii(64), answer: longText(), created: time() },
      indices: { ix_idempotent_requests_created: ['created'] },
    },
  };
}
