import { ascii, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key, optional } from './table-migration.js';

/** The audit, its seals (ADR 19) and the counts of sealed events (ADR 28). */
export class Audit1795600004000 extends TableMigration {
  readonly tables = [
    {
      name: 'audit_events',
      columns: [
        column('id', uuid(), key),
        column('time', time()),
        column('actor_kind', ascii(16)),
        column('actor_id', uuid(), optional),
        column('action', ascii(64)),
        column('target_kind', ascii(16)),
        column('target_id', uuid()),
        column('changes', longText()),
        column('request_id', ascii(64)),
        column('ip', text(64)),
      ],
      indices: [
        { name: 'ix_audit_events_target', columnNames: ['target_id', 'id'] },
        { name: 'ix_audit_events_actor', columnNames: ['actor_id', 'id'] },
        { name: 'ix_audit_events_action', columnNames: ['action', 'id'] },
      ],
    },
    {
      name: 'audit_runs',
      withoutRowid: true,
      columns: [
        column('run_id', uuid(), key),
        column('part', ascii(16), key),
        column('person_kind', ascii(16)),
        column('person_id', uuid(), optional),
      ],
      indices: [{ name: 'ix_audit_runs_person', columnNames: ['person_id', 'run_id'] }],
    },
    {
      name: 'audit_seals',
      columns: [
        column('number', int(), key),
        column('sealed', time()),
        column('until_id', uuid()),
        column('row_count', int()),
        column('rows_hash', ascii(64)),
        column('late_count', int()),
        column('late_hash', ascii(64)),
        column('purged', int()),
        column('key_id', ascii(16)),
        column('hash', ascii(64)),
        column('members', longText(), optional),
        column('members_hash', ascii(64)),
      ],
      indices: [{ name: 'ix_audit_seals_until', columnNames: ['until_id'] }],
    },
    {
      name: 'audit_late_events',
      withoutRowid: true,
      columns: [column('id', uuid(), key), column('seal', int()), column('row_hash', ascii(64))],
      indices: [{ name: 'ix_audit_late_events_seal', columnNames: ['seal', 'id'] }],
    },
    {
      name: 'audit_counts',
      withoutRowid: true,
      columns: [
        column('seal', int(), key),
        column('hour', int(), key),
        column('action', ascii(64), key),
        column('value', int()),
      ],
    },
  ];
}
