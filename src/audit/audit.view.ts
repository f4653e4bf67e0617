import { toIso } from '../platform/common/time.js';
import type { AuditChange, AuditRecord, Party } from './audit-event.js';
import type { NameOf } from './audit-names.service.js';
import { sideNames } from './named-change.js';
import type { AuditActorDto, AuditChangeDto, AuditEventDto } from './audit.docs.js';

/** The answer for an audit row. A change of a secret has its field only. */
export function presentEvent(record: AuditRecord, nameOf: NameOf): AuditEventDto {
  const { id, time, actor, action, target, changes, reason, request_id, ip } = record;
  return {
    id,
    time: toIso(time),
    actor: presentActor(actor, nameOf),
    action,
    target: { ...target, name: nameOf(target) },
    changes: changes.map((change) => presentChange(change, nameOf)),
    reason,
    request_id,
    ip,
  };
}

function presentActor({ kind, id, ...people }: AuditRecord['actor'], nameOf: NameOf): AuditActorDto {
  const named = (party: Party) => ({ ...party, name: nameOf(party) });
  return {
    ...named({ kind, id }),
    ...(people.started_by && { started_by: named(people.started_by) }),
    ...(people.approved_by && { approved_by: named(people.approved_by) }),
  };
}

function presentChange(change: AuditChange, nameOf: NameOf): AuditChangeDto {
  const { field, ...values } = change;
  if (!('old' in values) && !('new' in values)) return { field };
  const names = sideNames(change, (id) => nameOf({ kind: 'user', id }));
  return { field, old: values.old ?? null, new: values.new ?? null, ...names };
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
  'Reason',
];

/** In the order of `CSV_COLUMNS`. */
export function csvCells({ id, time, actor, action, ...rest }: AuditRecord): string[] {
  const { target, changes, reason, request_id, ip } = rest;
  const event = [
    toIso(time),
    actor.kind,
    actor.id ?? '',
    action,
    target.kind,
    target.id,
    JSON.stringify(changes),
  ];
  const { started_by, approved_by } = actor;
  return [...event, request_id, ip, id, started_by?.id ?? '', approved_by?.id ?? '', reason];
}
