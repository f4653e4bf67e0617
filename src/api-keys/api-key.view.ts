import { ApiProperty } from '@nestjs/swagger';
import { PROFILES } from '../access/actor.js';
import { type DbTime, toIso } from '../platform/common/time.js';
import { PageOf } from '../platform/http/page.js';
import { ID, NULLABLE_TIME, describeTexts } from '../platform/openapi/docs.js';
import { MAX_LISTED, UNKNOWN_FIELDS } from './api-key.input.js';
import type { ApiKey } from './api-key.mapping.js';

class MakerDto {
  @ApiProperty({
    enum: ['key', 'user', 'system', 'unknown'],
    description: '`system`: the service or its command line. `unknown`: a key of an earlier version.',
  })
  kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
}

const list = (maxLength: number, description: string) =>
  ({ ...describeTexts(maxLength, MAX_LISTED), nullable: true, description }) as const;

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

export class ApiKeyPageDto extends PageOf(ApiKeyDto) {}

export class KeyFuseDto {
  @ApiProperty(ID) key_id!: string;
  @ApiProperty({
    format: 'date-time',
    example: '2036-01-31T13:00:00.000Z',
    description: 'Until then the key may block any number of users.',
  })
  open_until!: string;
}

/** The answer for a key: a white list, with times in ISO 8601; never the key or its hash. */
export function presentApiKey(key: ApiKey): ApiKeyDto {
  const { id, name, state, created, expires, revoked, last_used, last_address, maker } = key;
  return {
    id,
    name,
    state,
    scopes: key.scopes && [...key.scopes],
    networks: key.networks && [...key.networks],
    unknown_fields: key.ignoresUnknownFields ? 'ignore' : 'refuse',
    profile: key.profile,
    maker,
    created: toIso(created),
    expires: isoOrNull(expires),
    revoked: isoOrNull(revoked),
    last_used: isoOrNull(last_used),
    last_address,
  };
}

const isoOrNull = (time: DbTime | null): string | null => (time === null ? null : toIso(time));
