import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { urns } from '../http/scim-format.js';
import { ScimListDto } from '../http/scim.docs.js';
import {
  PROVIDER_CONFIG_SCHEMA,
  RESOURCE_TYPE_SCHEMA,
  SCHEMA_SCHEMA,
  USER_SCHEMA,
} from '../protocol/urns.js';

const feature = (more: Record<string, typeof count> = {}) =>
  ({ type: 'object', properties: { supported: { type: 'boolean' }, ...more } }) as const;
const count = { type: 'integer', minimum: 0 } as const;
const line = { type: 'string', maxLength: 1000 } as const;
const META = { type: 'object', properties: { resourceType: line, location: line } } as const;

export class ProviderConfigDto {
  @ApiProperty(urns([PROVIDER_CONFIG_SCHEMA])) schemas!: string[];
  @ApiProperty(feature()) patch!: object;
  @ApiProperty(feature({ maxOperations: count, maxPayloadSize: count })) bulk!: object;
  @ApiProperty(feature({ maxResults: count })) filter!: object;
  @ApiProperty(feature()) changePassword!: object;
  @ApiProperty(feature()) sort!: object;
  @ApiProperty(feature()) etag!: object;
  @ApiProperty({
    type: 'object',
    properties: {
      cursor: { type: 'boolean' },
      index: { type: 'boolean' },
      defaultPaginationMethod: { type: 'string', enum: ['index'] },
      defaultPageSize: count,
      maxPageSize: count,
    },
  })
  pagination!: object;
  @ApiProperty({
    type: 'array',
    maxItems: 1,
    items: {
      type: 'object',
      properties: { type: line, name: line, description: line, specUri: line, primary: { type: 'boolean' } },
    },
  })
  authenticationSchemes!: object[];
  @ApiProperty(META) meta!: object;
}

export class ResourceTypeDto {
  @ApiProperty(urns([RESOURCE_TYPE_SCHEMA])) schemas!: string[];
  @ApiProperty({ maxLength: 64, example: 'User' }) id!: string;
  @ApiProperty({ maxLength: 64, example: 'User' }) name!: string;
  @ApiProperty({ maxLength: 64, example: '/Users' }) endpoint!: string;
  @ApiProperty({ maxLength: 1000 }) description!: string;
  @ApiProperty({ maxLength: 255, example: USER_SCHEMA }) schema!: string;
  @ApiProperty({
    type: 'array',
    maxItems: 10,
    items: { type: 'object', properties: { schema: line, required: { type: 'boolean' } } },
  })
  schemaExtensions!: object[];
  @ApiProperty(META) meta!: object;
}

export class SchemaDto {
  @ApiProperty(urns([SCHEMA_SCHEMA])) schemas!: string[];
  @ApiProperty({ maxLength: 255, example: USER_SCHEMA }) id!: string;
  @ApiProperty({ maxLength: 255, example: 'User' }) name!: string;
  @ApiProperty({ maxLength: 1000 }) description!: string;
  @ApiProperty({
    type: 'array',
    maxItems: 100,
    items: { type: 'object', description: 'RFC 7643, section 7.' },
  })
  attributes!: object[];
  @ApiPropertyOptional(META) meta?: object;
}

export class ResourceTypeListDto extends ScimListDto {
  @ApiProperty({ type: [ResourceTypeDto], maxItems: 10 }) Resources!: ResourceTypeDto[];
}

export class SchemaListDto extends ScimListDto {
  @ApiProperty({ type: [SchemaDto], maxItems: 10 }) Resources!: SchemaDto[];
}
