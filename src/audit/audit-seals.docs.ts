import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { Problems, Secured } from '../platform/openapi/docs.js';
import { MAX_LIMIT, Page } from '../platform/http/page.js';

const HASH = { maxLength: 64, pattern: '^[0-9a-f]{64}$' } as const;

export class AuditSealDto {
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

export class AuditSealPageDto {
  @ApiProperty({ type: 'integer', minimum: 0, example: 4711 }) Count!: number;
  @ApiProperty({ type: [AuditSealDto], maxItems: MAX_LIMIT }) Results!: AuditSealDto[];
}

export const DocAuditSeals = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Seals of the audit, newest first',
      description:
        'An event of before `until` of the newest seal is sealed: `rollcall audit verify` shows whether it was changed. Keep hashes ' +
        'of seals elsewhere, for its `--expect`.',
    }),
    ApiQuery({ type: Page }),
    ApiResponse({ status: 200, description: 'A page of seals.', type: AuditSealPageDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );
