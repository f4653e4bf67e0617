import { ascii, int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, define, key, optional } from './table-migration.js';

/** The audit, its seals (ADR 19) and the counts of sealed events (ADR 28). */
export class Audit1795600004000 extends TableMigration {
  readonly tables = [
    {
      name: 'audit_events',
      columns: [
        define('id', uuid(), key),
        define('time', time()),
        define('actor_kind', ascii(16)),
        define('actor_id', uuid(), optional),
        define('action', ascii(64)),
        define('target_kind', ascii(16)),
        define('target_id', uuid()),
        define('changes', longText()),
        define('request_id', ascii(64)),
        define('ip', text(64)),
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
        define('run_id', uuid(), key),
        define('part', ascii(16), key),
        define('person_kind', ascii(16)),
        define('person_id', uuid(), optional),
      ],
      indices: [{ name: 'ix_audit_runs_person', columnNames: ['person_id', 'run_id'] }],
    },
    {
      name: 'audit_seals',
      columns: [
        define('number', int(), key),
        define('sealed', time()),
        define('until_id', uuid()),
        define('row_count', int()),
        define('rows_hash', ascii(64)),
        define('late_count', int()),
        define('late_hash', ascii(64)),
        define('purged', int()),
        define('key_id', ascii(16)),
        define('hash', ascii(64)),
        define('members', longText(), optional),
        define('members_hash', ascii(64)),
      ],
      indices: [{ name: 'ix_audit_seals_until', columnNames: ['until_id'] }],
    },
    {
      name: 'audit_late_events',
      withoutRowid: true,
      columns: [define('id', uuid(), key), define('seal', int()), define('row_hash', ascii(64))],
      indices: [{ name: 'ix_audit_late_events_seal', columnNames: ['seal', 'id'] }],
    },
    {
      name: 'audit_counts',
      withoutRowid: true,
      columns: [
        define('seal', int(), key),
        define('hour', int(), key),
        define('action', ascii(64), key),
        define('value', int()),
      ],
    },
  ];
}
