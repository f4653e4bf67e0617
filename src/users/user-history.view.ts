import { ApiProperty } from '@nestjs/swagger';
import {
  ACTIONS,
  ACTOR_KINDS,
  type AuditChange,
  type AuditRecord,
  type Party,
} from '../audit/audit-event.js';
import type { NameOf } from '../audit/audit-names.service.js';
import { AuditChangeDto, EventPageOf, MAX_CHANGES, REASON, presentEvent } from '../audit/audit.view.js';
import { truncated } from '../platform/common/text.js';
import { NULLABLE_ID } from '../platform/openapi/docs.js';
import { REQUEST_ID } from '../platform/http/problem.js';

/** A sentence that names every field of a user, each value truncated. */
const MAX_SUMMARY = 10_000;

class NamedActorDto {
  @ApiProperty({ enum: ACTOR_KINDS }) kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
  @ApiProperty({ maxLength: 1000, example: 'API key "HR connector"' }) name!: string;
}

class HistoryEventDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() actor!: NamedActorDto;
  @ApiProperty({ enum: ACTIONS }) action!: string;
  @ApiProperty({
    maxLength: MAX_SUMMARY,
    description: 'For people; its wording may change.',
    example: 'API key "HR connector" changed the user: phone from "1" to "2"',
  })
  summary!: string;
  @ApiProperty({ type: [AuditChangeDto], maxItems: MAX_CHANGES }) changes!: AuditChangeDto[];
  @ApiProperty(REASON) reason!: string;
  @ApiProperty(REQUEST_ID) request_id!: string;
  @ApiProperty({ maxLength: 64 }) ip!: string;
}

export class HistoryPageDto extends EventPageOf(HistoryEventDto) {}

/** The answer for an event of a user: with the name of its actor, and a sentence for people. */
export function presentHistory(record: AuditRecord, nameOf: NameOf): HistoryEventDto {
  const { target: _, actor, ...rest } = presentEvent(record, nameOf);
  const name = actorName(record.actor, nameOf);
  return { ...rest, actor: { kind: actor.kind, id: actor.id, name }, summary: summary(record, name) };
}

/** Characters of a value that a sentence quotes. */
const MAX_VALUE = 60;

const DONE: Readonly<Record<string, string>> = {
  'user.created': 'created the user',
  'user.updated': 'changed the user',
  'user.blocked': 'blocked the user',
  'user.reactivated': 'reactivated the user',
  'user.deleted': 'deleted the user',
  'user.restored': 'restored the user',
};

/** `import staff.csv (started by jane, approved by joe)`; the kind of an actor without a name. */
function actorName({ started_by, approved_by, ...actor }: AuditRecord['actor'], nameOf: NameOf): string {
  const name = (party: Party): string => {
    const known = nameOf(party);
    if (party.kind === 'import') return `import ${known || (party.id ?? '')}`;
    if (known === '') return party.kind;
    return party.kind === 'key' ? `API key "${known}"` : known;
  };
  const people = [
    ...(started_by ? [`started by ${name(started_by)}`] : []),
    ...(approved_by ? [`approved by ${name(approved_by)}`] : []),
  ];
  return people.length === 0 ? name(actor) : `${name(actor)} (${people.join(', ')})`;
}

/** `jane blocked the user: status from "Active" to "Blocked"` */
function summary({ action, changes, reason }: AuditRecord, actor: string): string {
  const done = DONE[action] ?? action;
  const differences = changes.map(difference).join('; ');
  const why = reason === '' ? '' : `. Reason: ${reason}`;
  return `${actor} ${done}${differences === '' ? '' : `: ${differences}`}${why}`;
}

function difference({ field, old, new: value }: AuditChange): string {
  if (old === undefined && value === undefined) return `${field} changed`;
  if (isEmpty(old)) return `${field} set to ${quoted(value)}`;
  return isEmpty(value)
    ? `${field} cleared, was ${quoted(old)}`
    : `${field} from ${quoted(old)} to ${quoted(value)}`;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || JSON.stringify(value) === '{}';

function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return truncated(text, MAX_VALUE);
}
