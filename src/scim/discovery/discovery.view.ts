import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SCIM_BULK_BODY } from '../../platform/http/body-reader.js';
import { describeUrns } from '../http/scim-format.js';
import { ScimListOf } from '../http/scim-docs.js';
import type { Attribute, AttributeDefinition, ResourceDescription, Schema } from '../protocol/attribute.js';
import { DEFAULT_COUNT, MAX_COUNT } from '../protocol/list.js';
import {
  PROVIDER_CONFIG_SCHEMA,
  RESOURCE_TYPE_SCHEMA,
  SCHEMA_SCHEMA,
  USER_SCHEMA,
} from '../protocol/urns.js';

const describeObject = (properties: Record<string, object>) => ({ type: 'object', properties }) as const;
const count = { type: 'integer', minimum: 0 } as const;
const flag = { type: 'boolean' } as const;
const line = { type: 'string', maxLength: 1000 } as const;
const describeFeature = (properties: Record<string, object> = {}) =>
  describeObject({ supported: flag, ...properties });
const META = describeObject({ resourceType: line, location: line });

export class ProviderConfigDto {
  @ApiProperty(describeUrns([PROVIDER_CONFIG_SCHEMA])) schemas!: string[];
  @ApiProperty(describeFeature()) patch!: object;
  @ApiProperty(describeFeature({ maxOperations: count, maxPayloadSize: count })) bulk!: object;
  @ApiProperty(describeFeature({ maxResults: count })) filter!: object;
  @ApiProperty(describeFeature()) changePassword!: object;
  @ApiProperty(describeFeature()) sort!: object;
  @ApiProperty(describeFeature()) etag!: object;
  @ApiProperty(
    describeObject({
      cursor: flag,
      index: flag,
      defaultPaginationMethod: { type: 'string', enum: ['index'] },
      defaultPageSize: count,
      maxPageSize: count,
    }),
  )
  pagination!: object;
  @ApiProperty({
    type: 'array',
    maxItems: 1,
    items: describeObject({ type: line, name: line, description: line, specUri: line, primary: flag }),
  })
  authenticationSchemes!: object[];
  @ApiProperty(META) meta!: object;
}

export class ResourceTypeDto {
  @ApiProperty(describeUrns([RESOURCE_TYPE_SCHEMA])) schemas!: string[];
  @ApiProperty({ maxLength: 64, example: 'User' }) id!: string;
  @ApiProperty({ maxLength: 64, example: 'User' }) name!: string;
  @ApiProperty({ maxLength: 64, example: '/Users' }) endpoint!: string;
  @ApiProperty({ maxLength: 1000 }) description!: string;
  @ApiProperty({ maxLength: 255, example: USER_SCHEMA }) schema!: string;
  @ApiProperty({ type: 'array', maxItems: 10, items: describeObject({ schema: line, required: flag }) })
  schemaExtensions!: object[];
  @ApiProperty(META) meta!: object;
}

export class SchemaDto {
  @ApiProperty(describeUrns([SCHEMA_SCHEMA])) schemas!: string[];
  @ApiProperty({ maxLength: 255, example: USER_SCHEMA }) id!: string;
  @ApiProperty({ maxLength: 255, example: 'User' }) name!: string;
  @ApiProperty({ maxLength: 1000 }) description!: string;
  @ApiProperty({
    type: 'array',
    maxItems: 100,
    items: { type: 'object', description: 'The definition of an attribute (RFC 7643, section 7).' },
  })
  attributes!: object[];
  @ApiPropertyOptional(META) meta?: object;
}

export class ResourceTypeListDto extends ScimListOf(ResourceTypeDto, 10) {}

export class SchemaListDto extends ScimListOf(SchemaDto, 10) {}

/** Maximum number of operations in a Bulk request. */
export const MAX_OPERATIONS = 1000;

/** Builds the ServiceProviderConfig (RFC 7643 §5, RFC 9865 §3). */
export function buildProviderConfig(base: string) {
  return {
    schemas: [PROVIDER_CONFIG_SCHEMA],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_OPERATIONS, maxPayloadSize: SCIM_BULK_BODY.maxBytes },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: { supported: true },
    sort: { supported: true },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: DEFAULT_COUNT,
      maxPageSize: MAX_COUNT,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'API key',
        description: 'An API key of the service, sent as a bearer token.',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

/** Converts a resource type to an element of `/ResourceTypes` (RFC 7643 §6). */
export function toTypeView({ name, endpoint, schema, extensions }: ResourceDescription, base: string) {
  return {
    schemas: [RESOURCE_TYPE_SCHEMA],
    id: name,
    name,
    endpoint,
    description: schema.description,
    schema: schema.urn,
    schemaExtensions: extensions.map(({ urn }) => ({ schema: urn, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  };
}

export function schemasOf({ user, group }: Record<'user' | 'group', ResourceDescription>): Schema[] {
  const [enterprise, ...others] = user.extensions;
  return [user.schema, ...(enterprise ? [enterprise] : []), group.schema, ...others, ...group.extensions];
}

/** Converts a schema to an element of `/Schemas` (RFC 7643 §7). */
export function toSchemaView({ urn, name, description, attributes }: Schema, base: string) {
  return {
    schemas: [SCHEMA_SCHEMA],
    id: urn,
    name,
    description,
    attributes: attributes.map(toAttributeView),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${urn}` },
  };
}

function toAttributeView(attribute: Attribute): AttributeDefinition {
  const { name, type, multiValued, description, required, mutability, returned } = attribute;
  const { canonicalValues, caseExact, uniqueness, referenceTypes, subAttributes } = attribute;
  const isComplex = type === 'complex';
  return {
    name,
    type,
    multiValued,
    description,
    required,
    ...(canonicalValues.length > 0 && { canonicalValues }),
    ...(!isComplex && type !== 'boolean' && { caseExact }),
    mutability,
    returned,
    ...(isComplex ? { subAttributes: subAttributes.map(toAttributeView) } : { uniqueness }),
    ...(referenceTypes.length > 0 && { referenceTypes }),
  };
}
