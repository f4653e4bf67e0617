import { toIso } from '../common/time.js';
import type { AuditChange, AuditRecord } from './audit-event.js';
import type { AuditChangeDto, AuditEventDto } from './audit.docs.js';

/** The answer for an audit row. A change of a secret has its field only. */
export function presentEvent({ id, time, actor, action, ...rest }: AuditRecord): AuditEventDto {
  const { target, changes, request_id, ip } = rest;
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

function presentChange({ field, ...values }: AuditChange): AuditChangeDto {
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
  'StartedBy',
  'ApprovedBy',
];

/** In the order of `CSV_COLUMNS`. */
export function csvCells({ id, time, actor, action, ...rest }: AuditRecord): string[] {
  const { target, changes, request_id, ip } = rest;
  const event = [
    toIso(time),
    actor.kind,
    actor.id ?? '',
    action,
    target.kind,
    target.id,
    JSON.stringify(changes),
  ];
  return [...event, request_id, ip, id, actor.started_by?.id ?? '', actor.approved_by?.id ?? ''];
}
