import { applyDecorators } from '@nestjs/common';
import {
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { FIELD_VALUE, NEXT, Problems, REQUEST_ID, STREAM, Secured } from '../http/docs.js';
import { MAX_LIMIT } from '../http/page.js';
import { ACTIONS, ACTOR_KINDS, TARGET_KINDS } from './audit-event.js';
import { AuditFilter, AuditQuery } from './audit.query.js';

const ANY = {
  ...FIELD_VALUE,
  description: 'Null where there was nothing; absent for a secret.',
};

/** A user is the record with the most fields and has fewer. */
export const MAX_CHANGES = 100;

class AuditActorDto {
  @ApiProperty({ enum: ACTOR_KINDS }) kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
}

class AuditTargetDto {
  @ApiProperty({ enum: TARGET_KINDS }) kind!: string;
  @ApiProperty({ format: 'uuid' }) id!: string;
}

export class AuditChangeDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiPropertyOptional(ANY) old?: unknown;
  @ApiPropertyOptional(ANY) new?: unknown;
}

export class AuditEventDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() actor!: AuditActorDto;
  @ApiProperty({ enum: ACTIONS }) action!: string;
  @ApiProperty() target!: AuditTargetDto;
  @ApiProperty({ type: [AuditChangeDto], maxItems: MAX_CHANGES }) changes!: AuditChangeDto[];
  @ApiProperty(REQUEST_ID) request_id!: string;
  @ApiProperty({ maxLength: 64, description: 'Empty for what the service does by itself.' }) ip!: string;
}

export class AuditPageDto {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000, description: 'Above 10,000 it says 10,000.' })
  Count!: number;
  @ApiProperty({ type: [AuditEventDto], maxItems: MAX_LIMIT }) Results!: AuditEventDto[];
}

export const DocAudit = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Who did what, newest first',
      description:
        'The `Link: rel="next"` header leads to the next page. A page may hold fewer events than `limit`, or none, though ' +
        'more follow: the first of `target`, `actor` and `action` is looked up, and the other filters are applied to 10,000 ' +
        'events a request.',
    }),
    ApiQuery({ type: AuditQuery }),
    ApiResponse({ status: 200, description: 'A page of events.', type: AuditPageDto, headers: NEXT }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
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
