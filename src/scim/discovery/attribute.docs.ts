import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import type { AttributeDefinition, SchemaDefinition } from '../protocol/attribute.js';
import { urns } from '../http/scim.docs.js';
import { COMMON } from './schemas.js';

/** OpenAPI schemas of resources, made of the one description of their attributes. */

const MAX_TEXT = 1000;
/** Of what a column limits: the rules of users say more. */
const MAX_COLUMN = 10_000;
const MAX_ITEMS = 50;
const MAX_MEMBERS = 100_000;

type OpenApi = Extract<ApiPropertyOptions, { items?: unknown }> & object;

function schemaOf(definition: AttributeDefinition): OpenApi {
  const { description, multiValued = false, maxItems = MAX_ITEMS } = definition;
  const single = singleOf(definition);
  if (!multiValued) return { ...single, description } as OpenApi;
  const most = Number.isFinite(maxItems) ? maxItems : MAX_MEMBERS;
  return { type: 'array', items: single, maxItems: most, description } as OpenApi;
}

function singleOf({
  type,
  subAttributes = [],
  canonicalValues = [],
  maxLength = MAX_TEXT,
}: AttributeDefinition) {
  if (type === 'boolean') return { type: 'boolean' };
  if (type === 'dateTime') return { type: 'string', format: 'date-time' };
  if (type === 'complex') {
    return {
      type: 'object',
      properties: Object.fromEntries(subAttributes.map((sub) => [sub.name, schemaOf(sub)])),
    };
  }
  return {
    type: 'string',
    maxLength: Number.isFinite(maxLength) ? maxLength : MAX_COLUMN,
    ...(canonicalValues.length > 0 && { example: canonicalValues[0] }),
  };
}

/** Describes a class as a type of resource: an answer has what was asked for, `id` and `schemas` always. */
export const DescribedBy =
  (
    core: SchemaDefinition,
    extensions: readonly SchemaDefinition[],
    example: readonly string[],
  ): ClassDecorator =>
  (target) => {
    const { prototype } = target as { prototype: object };
    for (const definition of [...COMMON, ...core.attributes]) {
      const isAlways = definition.name === 'id' || definition.name === 'schemas';
      const schema = definition.name === 'schemas' ? urns(example) : schemaOf(definition);
      const readOnly = definition.mutability === 'readOnly' && !isAlways;
      const writeOnly = definition.mutability === 'writeOnly';
      const options = {
        ...schema,
        ...(readOnly && { readOnly }),
        ...(writeOnly && { writeOnly }),
      } as OpenApi;
      ApiPropertyOptional(options)(prototype, definition.name);
    }
    for (const { urn, description, attributes } of extensions) {
      const properties = Object.fromEntries(attributes.map((each) => [each.name, schemaOf(each)]));
      ApiPropertyOptional({ type: 'object', properties, description })(prototype, urn);
    }
  };
