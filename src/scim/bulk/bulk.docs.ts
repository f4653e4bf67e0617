import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import { ScimChangeProblems, ScimErrorDto, urns } from '../http/scim.docs.js';
import {
  BULK_REQUEST_MESSAGE,
  BULK_RESPONSE_MESSAGE,
  GROUP_SCHEMA,
  PATCH_MESSAGE,
  USER_SCHEMA,
} from '../protocol/urns.js';
import { MAX_BULK_ID } from './bulk-plan.js';
import type { BulkAnswer } from './bulk-state.js';

const BULK_ID = { maxLength: MAX_BULK_ID, example: 'robin' } as const;
const VERSION = { maxLength: 64, example: 'W/"1"' } as const;

class BulkOperationDto {
  @ApiProperty({ maxLength: 10, enum: ['POST', 'PUT', 'PATCH', 'DELETE'] }) method!: string;
  @ApiPropertyOptional({ ...BULK_ID, description: 'Required with POST; unique.' }) bulkId?: string;
  @ApiPropertyOptional({ ...VERSION, description: 'As If-Match.' }) version?: string;
  @ApiProperty({ maxLength: 1000, example: '/Users', description: 'Of a PUT, PATCH, DELETE: with the id.' })
  path!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'As the body of the request alone; of a PATCH its list of operations will do.',
  })
  data?: object;
}

class BulkRequestDto {
  @ApiPropertyOptional(urns([BULK_REQUEST_MESSAGE])) schemas?: string[];
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 2 ** 31 - 1, example: 1 })
  failOnErrors?: number;
  @ApiProperty({ type: [BulkOperationDto], minItems: 1, maxItems: MAX_OPERATIONS })
  Operations!: BulkOperationDto[];
}

class BulkAnswerDto implements BulkAnswer {
  @ApiProperty({ maxLength: 10, example: 'POST' }) method!: string;
  @ApiPropertyOptional(BULK_ID) bulkId?: string;
  @ApiPropertyOptional({
    maxLength: 2048,
    example: 'http://localhost:3000/scim/v2/Users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10',
  })
  location?: string;
  @ApiPropertyOptional(VERSION) version?: string;
  @ApiProperty({ maxLength: 3, pattern: '^[245]\\d\\d$', example: '201' }) status!: string;
  @ApiPropertyOptional({ type: ScimErrorDto, description: 'Of an operation that has failed.' })
  response?: NonNullable<BulkAnswer['response']>;
}

export class BulkResponseDto {
  @ApiProperty(urns([BULK_RESPONSE_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: [BulkAnswerDto], maxItems: MAX_OPERATIONS }) Operations!: BulkAnswerDto[];
}

const person = (userName: string) => ({
  schemas: [USER_SCHEMA],
  userName,
  emails: [{ value: `${userName}@example.org`, type: 'work', primary: true }],
});

export const DocBulk = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Create, change and delete users and groups in one request',
      description:
        `At most ${MAX_OPERATIONS} operations, 4 MiB, and 50 with a password. They are done in the order sent, but users come before ` +
        'what refers to them by `bulkId:…` in a path, a `value` or a `$ref`. Users are written in sets, of which the end ' +
        'decides what is unique; a group is written alone. An operation that fails touches no other, but what refers to it ' +
        'fails with it; each needs the scope that it would need alone. After `failOnErrors` errors, in the order sent, nothing ' +
        'more is done. With an `Idempotency-Key`, a Bulk that is sent again goes on where it was broken off.',
    }),
    ApiBody({
      type: BulkRequestDto,
      examples: {
        'two users and their group': {
          value: {
            schemas: [BULK_REQUEST_MESSAGE],
            failOnErrors: 10,
            Operations: [
              { method: 'POST', path: '/Users', bulkId: 'noa', data: person('noa.lane') },
              { method: 'POST', path: '/Users', bulkId: 'kim', data: person('kim.lane') },
              {
                method: 'PATCH',
                path: '/Users/bulkId:kim',
                data: {
                  schemas: [PATCH_MESSAGE],
                  Operations: [{ op: 'add', path: 'title', value: 'Guide' }],
                },
              },
              {
                method: 'POST',
                path: '/Groups',
                bulkId: 'guides',
                data: {
                  schemas: [GROUP_SCHEMA],
                  displayName: 'Guides of the lane',
                  members: [{ value: 'bulkId:noa' }, { value: 'bulkId:kim' }],
                },
              },
            ],
          },
        },
      },
    }),
    ApiResponse({ status: 200, description: 'The answers, in the order sent.', type: BulkResponseDto }),
    ScimChangeProblems('invalid_value', 'invalid_syntax'),
  );
