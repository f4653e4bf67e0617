import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import { ScimErrorDto, describeUrns } from '../http/scim-format.js';
import { BULK_REQUEST_MESSAGE, BULK_RESPONSE_MESSAGE } from '../protocol/urns.js';
import { MAX_BULK_ID, MAX_PATH, MAX_VERSION } from './bulk-plan.js';

const BULK_ID = { maxLength: MAX_BULK_ID, example: 'robin' } as const;
const VERSION = { maxLength: MAX_VERSION, example: 'W/"1"' } as const;

class BulkOperationDto {
  @ApiProperty({ maxLength: 10, enum: ['POST', 'PUT', 'PATCH', 'DELETE'] }) method!: string;
  @ApiPropertyOptional({ ...BULK_ID, description: 'Required for POST. Must be unique within the request.' })
  bulkId?: string;
  @ApiPropertyOptional({ ...VERSION, description: 'Last ETag that the client read, as in If-Match.' })
  version?: string;
  @ApiProperty({
    maxLength: MAX_PATH,
    example: '/Users',
    description: '`/Users` or `/Groups`, followed by `/{id}` unless the method is POST.',
  })
  path!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The same body as in a separate request. For PATCH, the list of operations is sufficient.',
  })
  data?: object;
}

export class BulkRequestDto {
  @ApiPropertyOptional(describeUrns([BULK_REQUEST_MESSAGE])) schemas?: string[];
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 2 ** 31 - 1, example: 1 })
  failOnErrors?: number;
  @ApiProperty({ type: [BulkOperationDto], minItems: 1, maxItems: MAX_OPERATIONS })
  Operations!: BulkOperationDto[];
}

/** The response to one operation (RFC 7644, section 3.7.3). */
export class BulkAnswerDto {
  @ApiProperty({ maxLength: 10, example: 'POST' }) method!: string;
  @ApiPropertyOptional(BULK_ID) bulkId?: string;
  @ApiPropertyOptional({
    maxLength: 2048,
    example: 'http://localhost:3000/scim/v2/Users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10',
  })
  location?: string;
  @ApiPropertyOptional(VERSION) version?: string;
  @ApiProperty({ maxLength: 3, pattern: '^[245]\\d\\d$', example: '201' }) status!: string;
  @ApiPropertyOptional({ type: ScimErrorDto, description: 'The error, if the operation failed.' })
  response?: ScimErrorDto;
}

export class BulkResponseDto {
  @ApiProperty(describeUrns([BULK_RESPONSE_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: [BulkAnswerDto], maxItems: MAX_OPERATIONS }) Operations!: BulkAnswerDto[];
}
