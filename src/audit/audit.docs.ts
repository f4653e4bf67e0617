import { applyDecorators } from '@nestjs/common';
import {
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { FIELD_VALUE, NEXT, Problems, REQUEST_ID, STREAM, Secured } from '../platform/openapi/docs.js';
import { AUDIT_REASON, MAX_REASON } from '../platform/http/request-headers.js';
import { MAX_LIMIT } from '../platform/http/page.js';
import { ACTIONS, ACTOR_KINDS, TARGET_KINDS } from './audit-event.js';
import { AuditFilter, AuditQuery } from './audit.query.js';

const ANY = {
  ...FIELD_VALUE,
  description: 'Null where there was nothing; absent for a secret.',
};

export const COUNT = { type: 'integer', minimum: 0, maximum: 1000, example: 3 } as const;
export const COUNT_IS_EXACT = {
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
const ID = { type: String, format: 'uuid', nullable: true } as const;

class AuditPartyDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'user' }) kind!: string;
  @ApiProperty(ID) id!: string | null;
  @ApiProperty(NAME) name!: string;
}

export class AuditActorDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'import' }) kind!: string;
  @ApiProperty(ID) id!: string | null;
  @ApiProperty(NAME) name!: string;
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

export class AuditPageDto {
  @ApiProperty(COUNT) Count!: number;
  @ApiProperty(COUNT_IS_EXACT) CountIsExact!: boolean;
  @ApiProperty({ type: [AuditEventDto], maxItems: MAX_LIMIT }) Results!: AuditEventDto[];
}

export const DocAudit = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Who did what, newest first',
      description:
        'The `Link: rel="next"` header leads to the next page; a page is full as long as there are more. Of `target`, `actor` ' +
        'and `action` the one with the fewest events is looked up, and the other filters are applied to those. Where that ' +
        'takes longer than `SEARCH_TIMEOUT` the answer is 422 `search_too_broad`: name a target, or a time.',
    }),
    ApiQuery({ type: AuditQuery }),
    ApiResponse({ status: 200, description: 'A page of events.', type: AuditPageDto, headers: NEXT }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'search_too_broad'),
  );

export const DocAuditCsv = () =>
  applyDecorators(
    ApiOperation({
      summary: 'The audit as a CSV file',
      description: 'All events of the filters, newest first.',
    }),
    ApiQuery({ type: AuditFilter }),
    ApiProduces('text/csv'),
    ApiResponse({
      status: 200,
      description: 'The events.',
      content: { 'text/csv': { schema: STREAM } },
    }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );
