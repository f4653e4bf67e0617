import { toIso } from '../common/time.js';
import type { AuditChange, AuditRecord } from './audit-event.js';

/** An audit row as it is shown. A change of a secret names its field alone. */
export function presentEvent({ id, time, actor, action, target, changes, request_id, ip }: AuditRecord) {
  return {
    id,
    time: toIso(time),
    actor,
    action,
    target,
    changes: changes.map(presentChange),
    request_id,
    ip,
  };
}

function presentChange({ field, ...values }: AuditChange) {
  if (!('old' in values) && !('new' in values)) return { field };
  return { field, old: values.old ?? null, new: values.new ?? null };
}

export const CSV_COLUMNS = [
  'Time',
  'ActorKind',
  'Actor',
  'Action',
  'TargetKind',
  'Target',
  'Changes',
  'RequestId',
  'Ip',
  'Id',
];

/** In the order of `CSV_COLUMNS`. */
export function csvCells({
  id,
  time,
  actor,
  action,
  target,
  changes,
  request_id,
  ip,
}: AuditRecord): string[] {
  return [
    toIso(time),
    actor.kind,
    actor.id ?? '',
    action,
    target.kind,
    target.id,
    JSON.stringify(changes),
    request_id,
    ip,
    id,
  ];
}
