import { applyDecorators } from '@nestjs/common';
import {
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { Problems, Secured } from '../common/docs.js';
import { ACTIONS, ACTOR_KINDS, TARGET_KINDS } from './audit.event.js';
import { AuditFilter, AuditQuery } from './audit.query.js';

const ANY = {
  oneOf: [{}],
  example: '',
  description: 'Any JSON value: null where there was nothing; absent for a secret.',
};

class AuditActorDto {
  @ApiProperty({ enum: ACTOR_KINDS }) kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
}

class AuditTargetDto {
  @ApiProperty({ enum: TARGET_KINDS }) kind!: string;
  @ApiProperty({ format: 'uuid' }) id!: string;
}

export class AuditChangeDto {
  @ApiProperty({ example: 'email' }) field!: string;
  @ApiPropertyOptional(ANY) old?: unknown;
  @ApiPropertyOptional(ANY) new?: unknown;
}

class AuditEventDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() actor!: AuditActorDto;
  @ApiProperty({ enum: ACTIONS }) action!: string;
  @ApiProperty() target!: AuditTargetDto;
  @ApiProperty({ type: [AuditChangeDto] }) changes!: AuditChangeDto[];
  @ApiProperty() request_id!: string;
  @ApiProperty({ description: 'Empty for what the service does by itself.' }) ip!: string;
}

class AuditPageDto {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000, description: 'Above 10,000 it says 10,000.' })
  Count!: number;
  @ApiProperty({ type: [AuditEventDto] }) Results!: AuditEventDto[];
}

/** Of a list that is walked by its links. */
export const NEXT = {
  Link: { description: '`rel="next"`: the page behind this one.', schema: { type: 'string' } },
} as const;

export const DocAudit = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Who did what to whom, newest first',
      description:
        'Walk it by the `Link: rel="next"` header. A page may hold fewer events than `limit`, or none, though more follow: ' +
        '`field` and `actor_kind` look at 10,000 events a request.',
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
      content: { 'text/csv': { schema: { type: 'string' } } },
    }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );
