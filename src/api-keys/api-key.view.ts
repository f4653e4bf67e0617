import { ApiProperty } from '@nestjs/swagger';
import { DEFAULT_PROFILE, PROFILES } from '../access/actor.js';
import { fromJson } from '../platform/common/json.js';
import { now, toIso } from '../platform/common/time.js';
import { PageOf } from '../platform/http/page.js';
import { ID, NULLABLE_ID, NULLABLE_TIME, describeTexts } from '../platform/openapi/shared-schemas.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { MAX_LIST_ITEMS, UNKNOWN_FIELDS } from './api-key.input.js';
import { stateOf } from './api-key.repository.js';

class MakerDto {
  @ApiProperty({
    enum: ['key', 'user', 'system'],
    description: '`system`: the service or its command line.',
  })
  kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
}

const describeNullableTexts = (maxLength: number, description: string) =>
  ({ ...describeTexts(maxLength, MAX_LIST_ITEMS), nullable: true, description }) as const;

export class ApiKeyDto {
  @ApiProperty({
    format: 'uuid',
    description: 'The last 12 digits of this id are part of the key.',
  })
  id!: string;
  @ApiProperty({ example: 'HR connector', maxLength: 255 }) name!: string;
  @ApiProperty({ enum: ['active', 'expired', 'revoked'] }) state!: string;
  @ApiProperty(describeNullableTexts(80, 'Scopes of the key. null: all permissions.')) scopes!:
    string[] | null;
  @ApiProperty(describeNullableTexts(50, 'Networks from which the key may be used. null: any network.'))
  networks!: string[] | null;
  @ApiProperty({ enum: UNKNOWN_FIELDS, description: 'How unknown fields of a user are handled.' })
  unknown_fields!: string;
  @ApiProperty({ enum: PROFILES, description: 'The identity provider that uses the key for SCIM.' })
  profile!: string;
  @ApiProperty({ description: 'Creator of the key.' }) maker!: MakerDto;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty(NULLABLE_TIME) expires!: string | null;
  @ApiProperty(NULLABLE_TIME) revoked!: string | null;
  @ApiProperty({ ...NULLABLE_TIME, description: 'Time of the last use, to the minute. Null if never used.' })
  last_used!: string | null;
  @ApiProperty({
    type: String,
    maxLength: 64,
    nullable: true,
    description: 'IP address of the last use. Null if unknown.',
  })
  last_address!: string | null;
  @ApiProperty({ description: 'True if the fuse has stopped the key within the last hour.' })
  fuse_blown!: boolean;
}

export class NewApiKeyDto extends ApiKeyDto {
  @ApiProperty({ maxLength: 128, description: 'The key itself, which is returned only once.' })
  key!: string;
}

export class ApiKeyPageDto extends PageOf(ApiKeyDto) {}

export class KeyFuseDto {
  @ApiProperty(ID) key_id!: string;
  @ApiProperty({
    format: 'date-time',
    example: '2036-01-31T13:00:00.000Z',
    description: 'Until this time, the key may block any number of users.',
  })
  open_until!: string;
}

/** Converts a row to the public view of the key. Copies field by field, so that the hash is never exposed. */
export function presentApiKey(row: ApiKeyEntity, blown: ReadonlySet<string> = new Set()): ApiKeyDto {
  const { id, name, scopes, networks, last_address } = row;
  return {
    id,
    name,
    state: stateOf(row, now()),
    scopes: scopes && fromJson(scopes),
    networks: networks && fromJson(networks),
    unknown_fields: row.ignores_unknown_fields === 1 ? 'ignore' : 'refuse',
    profile: row.profile ?? DEFAULT_PROFILE,
    maker: { kind: row.maker_kind, id: row.maker_id },
    created: toIso(row.created),
    expires: row.expires && toIso(row.expires),
    revoked: row.revoked && toIso(row.revoked),
    last_used: row.last_used && toIso(row.last_used),
    last_address,
    fuse_blown: blown.has(id),
  };
}
