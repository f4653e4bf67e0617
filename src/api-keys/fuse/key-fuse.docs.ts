import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProperty, ApiResponse } from '@nestjs/swagger';
import { ChangeProblems, Secured } from '../../platform/openapi/docs.js';

const KEY = { format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' } as const;

export class KeyFuseDto {
  @ApiProperty(KEY) key_id!: string;
  @ApiProperty({
    format: 'date-time',
    example: '2036-01-31T13:00:00.000Z',
    description: 'Until then the key may block any number of users.',
  })
  open_until!: string;
}

export const DocResetFuse = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Reset the fuse of an API key',
      description:
        'A key that blocks more than `FUSE_MIN` users (50), or `FUSE_PERCENT` of the active ones (10) if that is more, ' +
        'within an hour gets 429 `fuse_blown`. This opens its fuse for an hour, and what it has blocked before counts no ' +
        'more. Keys that a key with `scopes` has made share its fuse; when that of a key without has blown, the keys that it ' +
        'has made block nobody either. A key resets no fuse of its own family nor of a key that has made it (403 `forbidden`), ' +
        'and none of a key with more scopes (403 `insufficient_scope`).',
    }),
    ApiParam({ name: 'key_id', ...KEY }),
    ApiResponse({ status: 200, description: 'It is open.', type: KeyFuseDto }),
    Secured(),
    ChangeProblems('malformed_uuid', 'not_found'),
  );
