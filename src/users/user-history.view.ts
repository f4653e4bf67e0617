import { ApiProperty, OmitType } from '@nestjs/swagger';
import { ACTOR_KINDS, type AuditChange, type AuditRecord, type Party } from '../audit/audit-event.js';
import type { NameResolver } from '../audit/audit-names.service.js';
import { AuditEventDto, EventPageOf, presentEvent } from '../audit/audit.view.js';
import { truncate } from '../platform/common/text.js';
import { NULLABLE_ID } from '../platform/openapi/shared-schemas.js';

/** Maximum length of a summary, in characters. It is enough for all fields of a user, with truncated values. */
const MAX_SUMMARY = 10_000;

class NamedActorDto {
  @ApiProperty({ enum: ACTOR_KINDS }) kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
  @ApiProperty({ maxLength: 1000, example: 'API key "HR connector"' }) name!: string;
}

class HistoryEventDto extends OmitType(AuditEventDto, ['actor', 'target']) {
  @ApiProperty() actor!: NamedActorDto;
  @ApiProperty({
    maxLength: MAX_SUMMARY,
    description: 'Readable summary of the event. Do not parse it, because its wording may change.',
    example: 'API key "HR connector" changed the user: phone from "1" to "2"',
  })
  summary!: string;
}

export class HistoryPageDto extends EventPageOf(HistoryEventDto) {}

/** Converts an audit event of a user to a history entry with a summary. */
export function presentHistory(record: AuditRecord, nameOf: NameResolver): HistoryEventDto {
  const { target: _, actor, ...rest } = presentEvent(record, nameOf);
  const name = formatActor(record.actor, nameOf);
  return { ...rest, actor: { kind: actor.kind, id: actor.id, name }, summary: formatSummary(record, name) };
}

/** Maximum length of a value in the summary, in characters. */
const MAX_VALUE = 60;

/**
 * Returns the name of an actor, as in `import staff.csv (started by jane, approved by joe)`, or the kind of an actor
 * without a name.
 */
function formatActor(
  { started_by, approved_by, ...actor }: AuditRecord['actor'],
  nameOf: NameResolver,
): string {
  const formatName = (party: Party): string => {
    const known = nameOf(party);
    if (party.kind === 'import') return `import ${known || (party.id ?? '')}`;
    if (known === '') return party.kind;
    return party.kind === 'key' ? `API key "${known}"` : known;
  };
  const people = [
    ...(started_by ? [`started by ${formatName(started_by)}`] : []),
    ...(approved_by ? [`approved by ${formatName(approved_by)}`] : []),
  ];
  return people.length === 0 ? formatName(actor) : `${formatName(actor)} (${people.join(', ')})`;
}

/** Describes an event in words, as in `jane blocked the user: status from "Active" to "Blocked"`. */
function formatSummary({ action, changes, reason }: AuditRecord, actor: string): string {
  const verb = action === 'user.updated' ? 'changed' : /^user\.(.*)$/.exec(action)?.[1];
  const predicate = verb === undefined ? action : `${verb} the user`;
  const details = changes.map(formatChange).join('; ');
  const suffix = reason === '' ? '' : `. Reason: ${reason}`;
  return `${actor} ${predicate}${details === '' ? '' : `: ${details}`}${suffix}`;
}

function formatChange({ field, old, new: value }: AuditChange): string {
  if (old === undefined && value === undefined) return `${field} changed`;
  if (isEmpty(old)) return `${field} set to ${formatValue(value)}`;
  return isEmpty(value)
    ? `${field} cleared, was ${formatValue(old)}`
    : `${field} from ${formatValue(old)} to ${formatValue(value)}`;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || JSON.stringify(value) === '{}';

const formatValue = (value: unknown): string => truncate(JSON.stringify(value), MAX_VALUE);
