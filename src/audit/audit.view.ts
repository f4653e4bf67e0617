import type { Type } from '@nestjs/common';
import { millisOf } from '../platform/common/uuid.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { toIso } from '../platform/common/time.js';
import { AUDIT_REASON, MAX_REASON } from '../platform/http/request-headers.js';
import { MAX_LIMIT, PageOf } from '../platform/http/page.js';
import { REQUEST_ID } from '../platform/http/problem.js';
import { FIELD_VALUE, NULLABLE_ID } from '../platform/openapi/docs.js';
import {
  ACTIONS,
  ACTOR_KINDS,
  type AuditChange,
  type AuditRecord,
  type Party,
  TARGET_KINDS,
} from './audit-event.js';
import { type NameOf, sideNames } from './audit-names.service.js';
import type { KnownSeal } from './audit-seal.repository.js';

const ANY = { ...FIELD_VALUE, description: 'Null where there was nothing; absent for a secret.' };

const COUNT = { type: 'integer', minimum: 0, maximum: 1000, example: 3 } as const;
const COUNT_IS_EXACT = {
  example: true,
  description: 'False: there are at least `Count` events. Counting ends at 1,000.',
} as const;

/** A user is the record with the most fields and has fewer. */
export const MAX_CHANGES = 100;

const NAME = {
  maxLength: 255,
  example: 'jane',
  description:
    'Username, name of the key or group, or name of the file, as it is today; empty where there is none.',
} as const;

class AuditPartyDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'user' }) kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
  @ApiProperty(NAME) name!: string;
}

class AuditActorDto extends AuditPartyDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'import' }) override kind!: string;
  @ApiPropertyOptional({ description: 'Of an import: who started it.' }) started_by?: AuditPartyDto;
  @ApiPropertyOptional({ description: 'Of an import: who approved it; absent where nobody had to.' })
  approved_by?: AuditPartyDto;
}

class AuditTargetDto {
  @ApiProperty({ enum: TARGET_KINDS, example: 'user' }) kind!: string;
  @ApiProperty({
    format: 'uuid',
    description: 'Zeros where it is no record, such as the unknown name of a failed login.',
  })
  id!: string;
  @ApiProperty(NAME) name!: string;
}

export const REASON = {
  maxLength: MAX_REASON,
  example: 'left the company',
  description: `From ${AUDIT_REASON}; empty where nothing was said.`,
} as const;

/** Of a field that names a user, such as `manager_uuid`. */
const SIDE_NAME = {
  maxLength: 255,
  example: 'jane.doe',
  description: 'The username today of the user that the value names; empty for who is deleted.',
};

/** What every list of changes says of the users that a change names. */
export class SideNamesDto {
  @ApiPropertyOptional(SIDE_NAME) old_name?: string;
  @ApiPropertyOptional(SIDE_NAME) new_name?: string;
}

export class AuditChangeDto extends SideNamesDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiPropertyOptional(ANY) old?: unknown;
  @ApiPropertyOptional(ANY) new?: unknown;
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
  @ApiProperty({ maxLength: 64, description: 'Empty for what the service does by itself.' }) ip!: string;
}

/** Creates the base class of a page of events. */
export function EventPageOf<T>(type: Type<T>) {
  class EventPageDto {
    @ApiProperty(COUNT) Count!: number;
    @ApiProperty(COUNT_IS_EXACT) CountIsExact!: boolean;
    @ApiProperty({ type: [type], maxItems: MAX_LIMIT }) Results!: T[];
  }
  return EventPageDto;
}

export class AuditPageDto extends EventPageOf(AuditEventDto) {}

/** The answer for an audit row. A change of a secret has its field only. */
export function presentEvent(record: AuditRecord, nameOf: NameOf): AuditEventDto {
  const { time, actor, target, changes } = record;
  return {
    ...record,
    time: toIso(time),
    actor: presentActor(actor, nameOf),
    target: { ...target, name: nameOf(target) },
    changes: changes.map((change) => presentChange(change, nameOf)),
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

const HASH = { maxLength: 64, pattern: '^[0-9a-f]{64}$' } as const;

class AuditSealDto {
  @ApiProperty({ type: 'integer', minimum: 1, example: 4711, description: 'From 1, without gaps.' })
  number!: number;
  @ApiProperty({ format: 'date-time', description: 'When the look at the audit began that made it.' })
  sealed!: string;
  @ApiProperty({
    format: 'date-time',
    description: 'It covers the events of before this time, from the end of the seal before.',
  })
  until!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 212 }) events!: number;
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 0,
    description: 'Events that it covers beside those, because they came after the seal of their time.',
  })
  late_events!: number;
  @ApiProperty({ ...HASH, description: 'Over all of that and the seal before: to be kept elsewhere.' })
  hash!: string;
  @ApiProperty({ description: 'Made with `AUDIT_SEAL_KEY`.' }) keyed!: boolean;
  @ApiProperty({ description: 'The retention may delete its events, or has deleted them.' })
  purged!: boolean;
}

export class AuditSealPageDto extends PageOf(AuditSealDto, { type: 'integer', minimum: 0, example: 4711 }) {}

/** The answer for a seal. @param purged the number of the last seal whose events the retention may delete. */
export const presentSeal = (seal: KnownSeal, purged: number): AuditSealDto => ({
  number: seal.number,
  sealed: toIso(seal.sealed),
  until: new Date(millisOf(seal.until_id)).toISOString(),
  events: seal.row_count,
  late_events: seal.late_count,
  hash: seal.hash,
  keyed: seal.key_id !== '',
  purged: seal.number <= purged,
});

/** The columns of the CSV file: their names and cells. */
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

export const csvCells = (record: AuditRecord): string[] => CSV.map(([, cell]) => cell(record) ?? '');
