import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { toIso } from '../platform/common/time.js';
import { AUDIT_REASON, MAX_REASON } from '../platform/http/request-headers.js';
import { PageOf } from '../platform/http/page.js';
import { REQUEST_ID } from '../platform/http/problem.js';
import { FIELD_VALUE, NULLABLE_ID } from '../platform/openapi/shared-schemas.js';
import {
  ACTIONS,
  ACTOR_KINDS,
  type AuditChange,
  type AuditRecord,
  type Party,
  TARGET_KINDS,
} from './audit-event.js';
import { type NameResolver, findUserNames } from './audit-names.service.js';

const VALUE = { ...FIELD_VALUE, description: 'Null if there was no value. Absent if the value is secret.' };

const COUNT = { type: 'integer', minimum: 0, maximum: 1000, example: 3 } as const;
const COUNT_IS_EXACT = {
  example: true,
  description: 'If false, `Count` is a lower bound, because counting stops at 1,000.',
} as const;

/** Maximum number of changes per event. No target has this many fields. */
const MAX_CHANGES = 100;

const NAME = {
  maxLength: 255,
  example: 'jane',
  description:
    'Current username, name of the API key or group, name of the imported file, or, for a command on the server, the ' +
    'operating-system user, such as `unix:alice`. Empty if there is no name.',
} as const;

class AuditPartyDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'user' }) kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
  @ApiProperty(NAME) name!: string;
}

export class AuditActorDto extends AuditPartyDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'import' }) override kind!: string;
  @ApiPropertyOptional({ description: 'User or API key that started the import.' })
  started_by?: AuditPartyDto;
  @ApiPropertyOptional({ description: 'User or API key that approved the import, if approval was needed.' })
  approved_by?: AuditPartyDto;
}

class AuditTargetDto {
  @ApiProperty({ enum: TARGET_KINDS, example: 'user' }) kind!: string;
  @ApiProperty({
    format: 'uuid',
    description: 'Id of the target. All zeros without a target, as for a failed login of an unknown user.',
  })
  id!: string;
  @ApiProperty(NAME) name!: string;
}

export const REASON = {
  maxLength: MAX_REASON,
  example: 'left the company',
  description: `Value of the ${AUDIT_REASON} header. Empty if no reason was sent.`,
} as const;

const USER_NAME = {
  maxLength: 255,
  example: 'jane.doe',
  description:
    'Current username of the user whose uuid is the value, or the username that the same import gives to a new user. Empty if the user was deleted.',
};

export class SideNamesDto {
  @ApiPropertyOptional(USER_NAME) old_name?: string;
  @ApiPropertyOptional(USER_NAME) new_name?: string;
}

export class AuditChangeDto extends SideNamesDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiPropertyOptional(VALUE) old?: unknown;
  @ApiPropertyOptional(VALUE) new?: unknown;
}

export class AuditEventDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() actor!: AuditActorDto;
  @ApiProperty({ enum: ACTIONS, example: 'user.updated' }) action!: string;
  @ApiProperty() target!: AuditTargetDto;
  @ApiProperty({ type: [AuditChangeDto], maxItems: MAX_CHANGES }) changes!: AuditChangeDto[];
  @ApiProperty(REASON) reason!: string;
  @ApiProperty(REQUEST_ID) request_id!: string;
  @ApiProperty({ maxLength: 64, description: 'IP address. Empty for system events.' }) ip!: string;
}

export class AuditPageDto extends PageOf(AuditEventDto, COUNT) {
  @ApiProperty(COUNT_IS_EXACT) CountIsExact!: boolean;
}

/** Returns the response for an audit event. A changed secret contains only the field name. */
export function presentEvent(record: AuditRecord, nameOf: NameResolver): AuditEventDto {
  const { time, actor, target, changes } = record;
  return {
    ...record,
    time: toIso(time),
    actor: presentActor(actor, nameOf),
    target: { ...target, name: nameOf(target) },
    changes: changes.map((change) => presentChange(change, nameOf)),
  };
}

export function presentActor(
  { started_by, approved_by, ...actor }: AuditRecord['actor'],
  nameOf: NameResolver,
): AuditActorDto {
  const addName = (party: Party) => ({ ...party, name: nameOf(party) });
  return {
    ...addName(actor),
    ...(started_by && { started_by: addName(started_by) }),
    ...(approved_by && { approved_by: addName(approved_by) }),
  };
}

function presentChange(change: AuditChange, nameOf: NameResolver): AuditChangeDto {
  const { field, ...values } = change;
  if (!('old' in values) && !('new' in values)) return { field };
  const names = findUserNames(change, (id) => nameOf({ kind: 'user', id }));
  return { field, old: values.old ?? null, new: values.new ?? null, ...names };
}

const CSV: readonly (readonly [name: string, cell: (record: AuditRecord) => string | null | undefined])[] = [
  ['Time', ({ time }) => toIso(time)],
  ['ActorKind', ({ actor }) => actor.kind],
  ['Actor', ({ actor }) => actor.id],
  ['Action', ({ action }) => action],
  ['TargetKind', ({ target }) => target.kind],
  ['Target', ({ target }) => target.id],
  ['Changes', ({ changes }) => JSON.stringify(changes)],
  ['RequestId', ({ request_id }) => request_id],
  ['Ip', ({ ip }) => ip],
  ['Id', ({ id }) => id],
  ['StartedBy', ({ actor }) => actor.started_by?.id],
  ['ApprovedBy', ({ actor }) => actor.approved_by?.id],
  ['Reason', ({ reason }) => reason],
];

export const CSV_COLUMNS = CSV.map(([name]) => name);

export const toCsvCells = (record: AuditRecord): string[] => CSV.map(([, cell]) => cell(record) ?? '');
