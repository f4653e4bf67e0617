import { ascii, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, key, optional } from './table-migration.js';

/** The audit, its seals (ADR 19) and the counts of sealed events (ADR 28). */
export class Audit1795600024000 extends TableMigration {
  readonly tables = [
    {
      name: 'audit_events',
      columns: [
        defineColumn('id', uuid(), key),
        defineColumn('time', time()),
        defineColumn('actor_kind', ascii(16)),
        defineColumn('actor_id', uuid(), optional),
        defineColumn('action', ascii(64)),
        defineColumn('target_kind', ascii(16)),
        defineColumn('target_id', uuid()),
        defineColumn('changes', longText()),
        defineColumn('request_id', ascii(64)),
        defineColumn('ip', text(64)),
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
        defineColumn('run_id', uuid(), key),
        defineColumn('part', ascii(16), key),
        defineColumn('person_kind', ascii(16)),
        defineColumn('person_id', uuid(), optional),
      ],
      indices: [{ name: 'ix_audit_runs_person', columnNames: ['person_id', 'run_id'] }],
    },
    {
      name: 'audit_seals',
      columns: [
        defineColumn('number', int(), key),
        defineColumn('sealed', time()),
        defineColumn('until_id', uuid()),
        defineColumn('row_count', int()),
        defineColumn('rows_hash', ascii(64)),
        defineColumn('late_count', int()),
        defineColumn('late_hash', ascii(64)),
        defineColumn('purged', int()),
        defineColumn('key_id', ascii(16)),
        defineColumn('hash', ascii(64)),
        defineColumn('members', longText(), optional),
        defineColumn('members_hash', ascii(64)),
      ],
      indices: [{ name: 'ix_audit_seals_until', columnNames: ['until_id'] }],
    },
    {
      name: 'audit_late_events',
      withoutRowid: true,
      columns: [
        defineColumn('id', uuid(), key),
        defineColumn('seal', int()),
        defineColumn('row_hash', ascii(64)),
      ],
      indices: [{ name: 'ix_audit_late_events_seal', columnNames: ['seal', 'id'] }],
    },
    {
      name: 'audit_counts',
      withoutRowid: true,
      columns: [
        defineColumn('seal', int(), key),
        defineColumn('hour', int(), key),
        defineColumn('action', ascii(64), key),
        defineColumn('value', int()),
      ],
    },
  ];
}
