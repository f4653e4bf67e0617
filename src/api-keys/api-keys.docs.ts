import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam, ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';
import {
  ChangeBodyProblems,
  ChangeProblems,
  LOCATION,
  Problems,
  Secured,
  linkTo,
} from '../platform/openapi/docs.js';
import { MAX_LIMIT, Page } from '../platform/http/page.js';
import { PROFILES } from '../access/actor.js';
import { ApiKeyInput, MAX_LISTED, UNKNOWN_FIELDS } from './api-key.input.js';

class MakerDto {
  @ApiProperty({
    enum: ['key', 'user', 'system', 'unknown'],
    description: '`system`: the service or its command line. `unknown`: a key of an earlier version.',
  })
  kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
}

const list = (maxLength: number, description: string) =>
  ({
    type: 'array',
    items: { type: 'string', maxLength },
    maxItems: MAX_LISTED,
    nullable: true,
    description,
  }) as const;

const NULLABLE_TIME = { type: String, format: 'date-time', nullable: true } as const;

export class ApiKeyDto {
  @ApiProperty({ format: 'uuid', description: 'Its last 12 digits are the public id in the key itself.' })
  id!: string;
  @ApiProperty({ example: 'HR connector', maxLength: 255 }) name!: string;
  @ApiProperty({ enum: ['active', 'expired', 'revoked'] }) state!: string;
  @ApiProperty(list(80, 'What it may do; null: the full Webmaster level.')) scopes!: string[] | null;
  @ApiProperty(list(50, 'From where it may be used; null: from anywhere.')) networks!: string[] | null;
  @ApiProperty({ enum: UNKNOWN_FIELDS, description: 'What becomes of unknown fields of a user.' })
  unknown_fields!: string;
  @ApiProperty({ enum: PROFILES, description: 'The identity provider that uses it for SCIM.' })
  profile!: string;
  @ApiProperty({ description: 'Who made it.' }) maker!: MakerDto;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty(NULLABLE_TIME) expires!: string | null;
  @ApiProperty(NULLABLE_TIME) revoked!: string | null;
  @ApiProperty({ ...NULLABLE_TIME, description: 'To the minute.' }) last_used!: string | null;
  @ApiProperty({ type: String, maxLength: 64, nullable: true, description: 'Where it was last used from.' })
  last_address!: string | null;
}

export class NewApiKeyDto extends ApiKeyDto {
  @ApiProperty({ maxLength: 128, description: 'The key itself, in this answer and never again.' })
  key!: string;
}

export class ApiKeyPageDto {
  @ApiProperty({ type: 'integer', minimum: 0 }) Count!: number;
  @ApiProperty({ type: [ApiKeyDto], maxItems: MAX_LIMIT }) Results!: ApiKeyDto[];
}

export const DocListKeys = () =>
  applyDecorators(
    ApiOperation({ summary: 'API keys, newest first', description: 'Without the keys themselves.' }),
    ApiQuery({ type: Page }),
    ApiResponse({ status: 200, description: 'A page of keys.', type: ApiKeyPageDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );

export const DocCreateKey = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Create an API key',
      description:
        'Only this answer holds the key: the service stores its SHA-256. Several keys may be active, so that one can be ' +
        'rotated: create a new one, give it to the connector, revoke the old one. Without `scopes`, `networks` and `expires` ' +
        'it may do everything, from anywhere, for ever. Neither these nor `profile` can be changed later. A key creates only keys that are ' +
        'no wider than itself: 403 `insufficient_scope` or `network_not_permitted`. Keys made by a key with `scopes` share its ' +
        'fuse and rate limit.',
    }),
    ApiBody({
      type: ApiKeyInput,
      examples: {
        'one job': {
          value: {
            name: 'HR connector',
            scopes: ['users:read', 'users:write'],
            networks: ['10.0.0.0/8', '2001:db8::/32'],
            expires: '2036-01-31T00:00:00.000Z',
            unknown_fields: 'ignore',
          },
        },
        'one data set': {
          value: {
            name: 'nightly file',
            scopes: ['imports:read', 'imports:write:hr'],
            expires: '2036-01-31T00:00:00.000Z',
          },
        },
        'an identity provider': {
          value: {
            name: 'Entra',
            scopes: ['users:read', 'users:write', 'groups:read', 'groups:write'],
            expires: '2036-01-31T00:00:00.000Z',
            profile: 'entra',
          },
        },
        everything: { value: { name: 'operator' } },
      },
    }),
    ApiResponse({
      status: 201,
      description: 'The key.',
      type: NewApiKeyDto,
      headers: LOCATION,
      links: {
        ...linkTo('revokeApiKey', 'key_id', '$response.body#/id'),
        ...linkTo('resetApiKeyFuse', 'key_id', '$response.body#/id'),
      },
    }),
    Secured(),
    ChangeBodyProblems(),
  );

export const DocRevokeKey = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Revoke an API key',
      description:
        'Final, and effective on the next request. Repeating it is not an error. A key may revoke itself, and keys that ' +
        'have no more scopes.',
    }),
    ApiParam({ name: 'key_id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }),
    ApiResponse({ status: 204, description: 'It is revoked.' }),
    Secured(),
    ChangeProblems('malformed_uuid', 'not_found'),
  );
