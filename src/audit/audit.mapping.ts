import { Changes, type FieldChange } from '../platform/common/changes.js';
import type { AuditEventEntity } from './audit.entity.js';
import { type AuditRecord, GIVEN_REASON, type People } from './audit-event.js';
import type { AuditRunEntity } from './audit-run.entity.js';

/** Who is behind each import. */
export function peopleBy(rows: readonly AuditRunEntity[]): ReadonlyMap<string, People> {
  const people = new Map<string, People>();
  for (const { run_id, part, person_kind: kind, person_id: id } of rows) {
    people.set(run_id, {
      ...people.get(run_id),
      [part === 'started' ? 'started_by' : 'approved_by']: { kind, id },
    });
  }
  return people;
}

/** The record of a database row. */
export function toRecord(row: AuditEventEntity, people: ReadonlyMap<string, People>): AuditRecord {
  const { actor_kind: kind, actor_id: id } = row;
  const { list } = Changes.read(row.changes);
  return {
    id: row.id,
    time: row.time,
    actor: { kind, id, ...(kind === 'import' && id !== null && people.get(id)) },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    changes: list.filter(({ field }) => field !== GIVEN_REASON),
    reason: reasonIn(list),
    request_id: row.request_id,
    ip: row.ip,
  };
}

function reasonIn(list: readonly FieldChange[]): string {
  const reason = list.find(({ field }) => field === GIVEN_REASON)?.new;
  return typeof reason === 'string' ? reason : '';
}
