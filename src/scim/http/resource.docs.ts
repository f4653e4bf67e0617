import { type Type, applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { ErrorCode } from '../../platform/common/errors.js';
import { LOCATION, type linkTo } from '../../platform/openapi/docs.js';
import { PATCH_MESSAGE } from '../protocol/urns.js';
import {
  ETAG,
  IfMatch,
  IfNoneMatch,
  ListQueryDocs,
  ResourceId,
  ScimBodyProblems,
  ScimChangeProblems,
  ScimDeleteProblems,
  ScimPatchDto,
  ScimProblems,
  ScimSearchDto,
  ViewQuery,
} from './scim.docs.js';

const OF_LISTS = ['invalid_value', 'invalid_filter', 'too_many', 'invalid_cursor', 'invalid_count'] as const;
const OF_PATCHES = [
  'invalid_value',
  'invalid_syntax',
  'invalid_path',
  'invalid_filter',
  'no_target',
] as const;

type Examples = Record<string, { value: object }>;
interface ResourceDocs {
  name: 'user' | 'group';
  resource: Type;
  list: Type;
  /** Codes of a resource that has a value of another one. */
  taken: readonly ErrorCode[];
  /** Further codes of a change. */
  ofChanges: readonly ErrorCode[];
}

/** Builds the OpenAPI descriptions that the routes of users and of groups share. */
export function docsOf({ name, resource, list, taken, ofChanges }: ResourceDocs) {
  const changed = ['not_found', ...taken, ...ofChanges] as const;
  const page = ApiResponse({ status: 200, description: `A page of ${name}s.`, type: list });
  const afterwards = () => [
    ResourceId(),
    ViewQuery(),
    IfMatch(),
    ApiResponse({ status: 200, description: `The ${name} afterwards.`, type: resource, headers: ETAG }),
  ];
  return {
    find: (description: string, filter: string) =>
      applyDecorators(
        ApiOperation({ summary: `Find ${name}s`, description }),
        ListQueryDocs(filter),
        page,
        ScimProblems(...OF_LISTS),
      ),
    search: (description: string, examples: Examples) =>
      applyDecorators(
        ApiOperation({ summary: `Find ${name}s by POST`, description }),
        ApiBody({ type: ScimSearchDto, examples }),
        page,
        ScimBodyProblems(...OF_LISTS),
      ),
    create: (
      examples: Examples,
      links: ReturnType<typeof linkTo>,
      operation: object,
      ...codes: ErrorCode[]
    ) =>
      applyDecorators(
        ApiOperation({ summary: `Create a ${name}`, ...operation }),
        ViewQuery(),
        ApiBody({ type: resource, examples }),
        ApiResponse({
          status: 201,
          description: `The ${name}.`,
          type: resource,
          headers: { ...LOCATION, ...ETAG },
          links,
        }),
        ScimChangeProblems('invalid_value', ...codes, ...taken),
      ),
    get: (operation: object = {}) =>
      applyDecorators(
        ApiOperation({ summary: `One ${name}`, ...operation }),
        ResourceId(),
        ViewQuery(),
        IfNoneMatch(),
        ApiResponse({ status: 200, description: `The ${name}.`, type: resource, headers: ETAG }),
        ApiResponse({ status: 304, description: 'Not changed since.' }),
        ScimProblems('invalid_value', 'not_found'),
      ),
    replace: (description: string, examples: Examples) =>
      applyDecorators(
        ApiOperation({ summary: `Replace a ${name}`, description }),
        ...afterwards(),
        ApiBody({ type: resource, examples }),
        ScimChangeProblems('invalid_value', ...changed),
      ),
    patch: (operation: { summary: string; description: string }, operations: Record<string, object>) =>
      applyDecorators(
        ApiOperation(operation),
        ...afterwards(),
        ApiBody({ type: ScimPatchDto, examples: patchesOf(operations) }),
        ApiResponse({ status: 204, description: 'It is done.', headers: ETAG }),
        ScimChangeProblems('too_many', 'mutability', ...OF_PATCHES, ...changed),
      ),
    delete: (description: string) =>
      applyDecorators(
        ApiOperation({ summary: `Delete a ${name}`, description }),
        ResourceId(),
        IfMatch(),
        ApiResponse({ status: 204, description: `There is no such ${name} any more.` }),
        ScimDeleteProblems(...changed),
      ),
  };
}

/** Bodies of a PATCH with one operation each. */
const patchesOf = (operations: Record<string, object>): Examples =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      { value: { schemas: [PATCH_MESSAGE], Operations: [operation] } },
    ]),
  );
