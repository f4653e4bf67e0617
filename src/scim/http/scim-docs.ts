import type { Type } from '@nestjs/common';
import {
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import type { ErrorCode } from '../../platform/common/errors.js';
import { describeHeader, describeAnyValue } from '../../platform/openapi/shared-schemas.js';
import { DescribeRoute, type RouteDocs, describeJson } from '../../platform/openapi/route-docs.js';
import type { Attribute, ResourceDescription } from '../protocol/attribute.js';
import { MAX_COUNT } from '../protocol/list.js';
import { LIST_MESSAGE, PATCH_MESSAGE, SEARCH_MESSAGE } from '../protocol/urns.js';
import { describeUrns } from './scim-format.js';

const ETAG = describeHeader('ETag', 'Version of the resource, such as `W/"3"`.', { maxLength: 64 });

const OptionalParameter = (name: string, schema: object, description: string, example?: string) =>
  ApiQuery({ name, required: false, description, schema, ...(example !== undefined && { example }) });

const NUMBER = { type: 'integer', minimum: -1e15, maximum: 1e15 } as const;
const describeText = (maxLength: number) => ({ type: 'string', maxLength }) as const;
const NAMES = describeText(8192);

const VIEW_PARAMETERS = [
  OptionalParameter(
    'attributes',
    NAMES,
    'Comma-separated names of the attributes to return, in addition to `id` and `schemas`.',
  ),
  OptionalParameter(
    'excludedAttributes',
    NAMES,
    'Comma-separated names of attributes to leave out. Cannot be combined with `attributes`.',
  ),
];

const describeListParameters = (filter: string) => [
  OptionalParameter('filter', describeText(2048), 'A filter (RFC 7644, section 3.4.2.2).', filter),
  OptionalParameter('sortBy', describeText(255), 'The attribute to sort by.'),
  ApiQuery({ name: 'sortOrder', required: false, enum: ['ascending', 'descending'] }),
  OptionalParameter('startIndex', NUMBER, 'Index of the first result. Counting starts at 1.'),
  OptionalParameter('count', NUMBER, `Results per page, at most ${MAX_COUNT}. Default: 100.`),
  OptionalParameter(
    'cursor',
    describeText(16_000),
    'Empty for the first page, then the `nextCursor` of the previous page (RFC 9865).',
  ),
  ...VIEW_PARAMETERS,
];

/** The fields of a list response. Each resource type adds `Resources`. */
export class ScimListDto {
  @ApiProperty(describeUrns([LIST_MESSAGE])) schemas!: string[];
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'Exact number of matches. Missing if it is not known.',
  })
  totalResults?: number;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000, example: 1 }) itemsPerPage!: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 }) startIndex?: number;
  @ApiPropertyOptional({
    maxLength: 16_000,
    description: 'Cursor of the next page, if the request has a `cursor`. Missing on the last page.',
  })
  nextCursor?: string;
}

/** Creates the class of a list response for one resource type. */
export function ScimListOf<T>(type: Type<T>, maxItems = MAX_COUNT) {
  class TypedListDto extends ScimListDto {
    @ApiProperty({ type: [type], maxItems }) Resources!: T[];
  }
  return TypedListDto;
}

class ScimSearchDto {
  @ApiPropertyOptional(describeUrns([SEARCH_MESSAGE])) schemas?: string[];
  @ApiPropertyOptional({ maxLength: 2048 }) filter?: string;
  @ApiPropertyOptional({ maxLength: 255 }) sortBy?: string;
  @ApiPropertyOptional({ enum: ['ascending', 'descending'] }) sortOrder?: string;
  @ApiPropertyOptional(NUMBER) startIndex?: number;
  @ApiPropertyOptional(NUMBER) count?: number;
  @ApiPropertyOptional({ maxLength: 16_000 }) cursor?: string;
  @ApiPropertyOptional(describeUrns([])) attributes?: string[];
  @ApiPropertyOptional(describeUrns([])) excludedAttributes?: string[];
}

class OperationDto {
  @ApiProperty({ maxLength: 7, example: 'replace', description: 'add, replace or remove. Case-insensitive.' })
  op!: string;
  @ApiPropertyOptional({ maxLength: 2048, example: 'emails[type eq "work"].value' }) path?: string;
  @ApiPropertyOptional({ ...describeAnyValue({ type: 'object' }, 100_000), example: 'jane.doe@example.org' })
  value?: unknown;
}

class ScimPatchDto {
  @ApiProperty(describeUrns([PATCH_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: [OperationDto], minItems: 1, maxItems: 1000 }) Operations!: OperationDto[];
}

type Examples = NonNullable<RouteDocs['examples']>;
const ON_LIST = ['invalid_value', 'invalid_filter', 'too_many', 'invalid_cursor', 'invalid_count'] as const;
const ON_PATCH = [
  'too_many',
  'mutability',
  'invalid_value',
  'invalid_syntax',
  'invalid_path',
  'invalid_filter',
  'no_target',
] as const;

/**
 * Builds the decorators that document the two routes of a list: GET and `POST .search`.
 * @param target noun for the summaries, as in `Find users`
 * @param resourceNames noun for the description of the response, as in `A page of users.`
 */
export function buildListDocs(target: string, resourceNames: string, type: Type<unknown>) {
  const listed = { answer: describeJson(`A page of ${resourceNames}.`, type), errors: ON_LIST };
  return {
    list: (id: string, description: string, filter: string) =>
      DescribeRoute(id, `Find ${target}`, { ...listed, description, more: describeListParameters(filter) }),
    search: (id: string, description: string, examples: Examples) => {
      const search = { body: ScimSearchDto, examples, changesNothing: true } as const;
      return DescribeRoute(id, `Find ${target} with a POST request`, { ...listed, ...search, description });
    },
  };
}

const toPatchExample = (operation: unknown) => ({ schemas: [PATCH_MESSAGE], Operations: [operation] });

interface ResourceDocs {
  description: ResourceDescription;
  resource: Type<unknown>;
  list: Type<unknown>;
  /** Error codes for a unique value that another resource already has. */
  taken: readonly ErrorCode[];
  ofChanges: readonly ErrorCode[];
}

export function buildResourceDocs({ description, resource, list, taken, ofChanges }: ResourceDocs) {
  const { name } = description;
  describeResource(resource, description);
  const noun = name.toLowerCase();
  const changed = [...taken, ...ofChanges];
  const change = {
    more: VIEW_PARAMETERS,
    ifMatch: `Last ETag that the client read, with or without W/. The request fails with 412 if the ${noun} has changed since.`,
    answer: describeJson(`The ${noun} after the change.`, resource, ETAG),
  };
  const applied = ApiResponse({ status: 204, description: 'The change was applied.', headers: ETAG });
  return {
    ...buildListDocs(`${noun}s`, `${noun}s`, list),
    create: (docs: Omit<RouteDocs, 'answer'>) =>
      DescribeRoute(`createScim${name}`, `Create a ${noun}`, {
        ...docs,
        more: VIEW_PARAMETERS,
        body: resource,
        answer: describeJson(`The ${noun}.`, resource, ETAG),
        errors: ['invalid_value', ...(docs.errors ?? []), ...taken],
      }),
    get: (docs: { description?: string } = {}) =>
      DescribeRoute(`getScim${name}`, `Get a ${noun}`, {
        ...docs,
        more: VIEW_PARAMETERS,
        ifNoneMatch: 'ETag of the version that the client already has.',
        answer: describeJson(`The ${noun}.`, resource, ETAG),
      }),
    replace: (description: string, examples: Examples) =>
      DescribeRoute(`replaceScim${name}`, `Replace a ${noun}`, {
        ...change,
        description,
        body: resource,
        examples,
        errors: ['invalid_value', ...changed],
      }),
    patch: (summary: string, description: string, operations: Examples) =>
      DescribeRoute(`patchScim${name}`, summary, {
        ...change,
        description,
        more: [...change.more, applied],
        body: ScimPatchDto,
        examples: Object.fromEntries(
          Object.entries(operations).map(([title, operation]) => [title, toPatchExample(operation)]),
        ),
        errors: [...ON_PATCH, ...changed],
      }),
    delete: (description: string) =>
      DescribeRoute(`deleteScim${name}`, `Delete a ${noun}`, {
        description,
        ifMatch: change.ifMatch,
        answer: `The ${noun} was deleted.`,
        errors: ofChanges,
      }),
  };
}

/** Maximum length in the OpenAPI file for attributes whose actual limit is a rule of a user field. */
const MAX_COLUMN = 10_000;
const MAX_MEMBERS = 100_000;

type OpenApi = Extract<ApiPropertyOptions, { items?: unknown }> & object;

function schemaOf(attribute: Attribute): OpenApi {
  const { description, multiValued, maxItems } = attribute;
  const single = valueSchemaOf(attribute);
  if (!multiValued) return { ...single, description } as OpenApi;
  const most = Number.isFinite(maxItems) ? maxItems : MAX_MEMBERS;
  return { type: 'array', items: single, maxItems: most, description } as OpenApi;
}

function valueSchemaOf({ type, subAttributes, canonicalValues: [example], maxLength }: Attribute) {
  if (type === 'boolean') return { type: 'boolean' };
  if (type === 'dateTime') return { type: 'string', format: 'date-time' };
  if (type === 'complex') return { type: 'object', properties: propertiesOf(subAttributes) };
  const max = Number.isFinite(maxLength) ? maxLength : MAX_COLUMN;
  return { type: 'string', maxLength: max, ...(example !== undefined && { example }) };
}

const propertiesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map((attribute) => [attribute.name, schemaOf(attribute)]));

/**
 * Describes a class as a resource type in the OpenAPI file. This is not a decorator, because decorated classes lose
 * their name in the bundle.
 */
function describeResource(type: Type<unknown>, resource: ResourceDescription): void {
  const { attributes, schema, extensions } = resource;
  const { prototype } = type as { prototype: object };
  for (const attribute of attributes.filter((each) => each.schema === undefined)) {
    const { name, mutability } = attribute;
    const isAlways = name === 'id' || name === 'schemas';
    const own = name === 'schemas' ? describeUrns([schema.urn]) : schemaOf(attribute);
    const readOnly = mutability === 'readOnly' && !isAlways;
    const writeOnly = mutability === 'writeOnly';
    const options = { ...own, ...(readOnly && { readOnly }), ...(writeOnly && { writeOnly }) } as OpenApi;
    ApiPropertyOptional(options)(prototype, name);
  }
  for (const { urn, description, attributes: own } of extensions)
    ApiPropertyOptional({ type: 'object', properties: propertiesOf(own), description })(prototype, urn);
}
