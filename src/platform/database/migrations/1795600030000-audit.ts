import { ascii, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, key, optional } from './table-migration.js';

/** The audit, its seals (ADR 19) and the counts of sealed events (ADR 28). */
export class Audit1795600030000 extends TableMigration {
  readonly tables = {
    audit_events: {
      columns: {
        id: key(uuid()),
        time: time(),
        actor_kind: ascii(16),
        actor_id: optional(uuid()),
        action: ascii(64),
        target_kind: ascii(16),
        target_id: uuid(),
        changes: longText(),
        request_id: ascii(64),
        ip: text(64),
      },
      indices: {
        ix_audit_events_target: ['target_id', 'id'],
        ix_audit_events_actor: ['actor_id', 'id'],
        ix_audit_events_action: ['action', 'id'],
      },
    },
    audit_seals: {
      columns: {
        number: key(int()),
        sealed: time(),
        until_id: uuid(),
        row_count: int(),
        rows_hash: ascii(64),
        late_count: int(),
        late_hash: ascii(64),
        purged: int(),
        key_id: ascii(16),
        hash: ascii(64),
        members: optional(longText()),
        members_hash: ascii(64),
      },
      indices: { ix_audit_seals_until: ['until_id'] },
    },
    audit_late_events: {
      withoutRowid: true,
      columns: { id: key(uuid()), seal: int(), row_hash: ascii(64) },
      indices: { ix_audit_late_events_seal: ['seal', 'id'] },
    },
    audit_counts: {
      withoutRowid: true,
      columns: { seal: key(int()), hour: key(int()), action: key(ascii(64)), value: int() },
    },
  };
}
