import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { AuditChangeDto, COUNT, COUNT_IS_EXACT, MAX_CHANGES, REASON } from '../audit/audit.docs.js';
import { ACTIONS, ACTOR_KINDS } from '../audit/audit-event.js';
import { NEXT, Problems, REQUEST_ID, Secured } from '../platform/openapi/docs.js';
import { MAX_LIMIT, Walk } from '../platform/http/page.js';

/** A sentence that names every field of a user, each value truncated. */
const MAX_SUMMARY = 10_000;

class NamedActorDto {
  @ApiProperty({ enum: ACTOR_KINDS }) kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
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

export class HistoryPageDto {
  @ApiProperty(COUNT) Count!: number;
  @ApiProperty(COUNT_IS_EXACT) CountIsExact!: boolean;
  @ApiProperty({ type: [HistoryEventDto], maxItems: MAX_LIMIT }) Results!: HistoryEventDto[];
}

export const DocHistory = () =>
  applyDecorators(
    ApiOperation({
      summary: 'History of a user, newest first',
      description: 'The audit of one user, with the names of actors and a sentence for each event.',
    }),
    ApiParam({ name: 'user_id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }),
    ApiQuery({ type: Walk }),
    ApiResponse({ status: 200, description: 'A page of events.', type: HistoryPageDto, headers: NEXT }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'malformed_uuid', 'not_found'),
  );
