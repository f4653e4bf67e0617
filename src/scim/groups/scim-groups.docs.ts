import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiResponse } from '@nestjs/swagger';
import { LOCATION, linkTo } from '../../http/docs.js';
import { DescribedBy } from '../discovery/attribute.docs.js';
import { GROUP, rollcallGroup } from '../discovery/group-schemas.js';
import {
  ETAG,
  IfMatch,
  IfNoneMatch,
  ListQueryDocs,
  ResourceId,
  ScimBodyProblems,
  ScimChangeProblems,
  ScimDeleteProblems,
  ScimListDto,
  ScimPatchDto,
  ScimProblems,
  ScimSearchDto,
  ViewQuery,
} from '../http/scim.docs.js';
import { MAX_COUNT } from '../protocol/list.js';
import { GROUP_SCHEMA, PATCH_MESSAGE, SEARCH_MESSAGE } from '../protocol/urns.js';

/** OpenAPI descriptions of the routes of `scim-groups.controller.ts`. */

class ScimGroupDto {
  schemas!: string[];
  id!: string;
}
// No decorator of the class: in the bundle it would cost the class its name, which the OpenAPI file shows.
DescribedBy(GROUP, [rollcallGroup([])], [GROUP_SCHEMA])(ScimGroupDto);

class ScimGroupListDto extends ScimListDto {
  @ApiProperty({ type: [ScimGroupDto], maxItems: MAX_COUNT }) Resources!: ScimGroupDto[];
}

const TAKEN = ['display_name_taken', 'external_id_taken'] as const;
const OF_LISTS = ['invalid_value', 'invalid_filter', 'too_many', 'invalid_cursor', 'invalid_count'] as const;
const OF_CHANGES = ['not_found', ...TAKEN, 'last_webmaster', 'precondition_failed'] as const;
const JANE = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const JOHN = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e11';

export const DocListGroups = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Find groups',
      description:
        'In the order of their creation, or of `sortBy`. A page ends early once it holds 10,000 members; with ' +
        '`excludedAttributes=members` they are not read. Filters on displayName, externalId, id, members, meta.created and ' +
        'meta.lastModified cost what they find.',
    }),
    ListQueryDocs('displayName eq "Newsroom"'),
    ApiResponse({ status: 200, description: 'A page of groups.', type: ScimGroupListDto }),
    ScimProblems(...OF_LISTS),
  );

export const DocSearchGroups = () =>
  applyDecorators(
    ApiOperation({ summary: 'Find groups by POST', description: 'As GET, with the parameters in the body.' }),
    ApiBody({
      type: ScimSearchDto,
      examples: {
        'by member': {
          value: {
            schemas: [SEARCH_MESSAGE],
            filter: `members.value eq "${JANE}"`,
            excludedAttributes: ['members'],
          },
        },
      },
    }),
    ApiResponse({ status: 200, description: 'A page of groups.', type: ScimGroupListDto }),
    ScimBodyProblems(...OF_LISTS),
  );

export const DocCreateGroup = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Create a group',
      description: 'Ids of nobody among the members are left out.',
    }),
    ViewQuery(),
    ApiBody({
      type: ScimGroupDto,
      examples: {
        standard: {
          value: { schemas: [GROUP_SCHEMA], displayName: 'Press office', members: [{ value: JANE }] },
        },
        entra: { value: { schemas: [GROUP_SCHEMA], externalId: '8aa1a0c0-0001', displayName: 'Research' } },
        okta: { value: { schemas: [GROUP_SCHEMA], displayName: 'Field service', members: [] } },
      },
    }),
    ApiResponse({
      status: 201,
      description: 'The group.',
      type: ScimGroupDto,
      headers: { ...LOCATION, ...ETAG },
      links: {
        ...linkTo('getScimGroup', 'id', '$response.body#/id'),
        ...linkTo('getGroup', 'group_id', '$response.body#/id', 'The same group as the API shows it.'),
      },
    }),
    ScimChangeProblems('invalid_value', ...TAKEN),
  );

export const DocGetGroup = () =>
  applyDecorators(
    ApiOperation({ summary: 'One group', description: 'With all its members, unless they are excluded.' }),
    ResourceId(),
    ViewQuery(),
    IfNoneMatch(),
    ApiResponse({ status: 200, description: 'The group.', type: ScimGroupDto, headers: ETAG }),
    ApiResponse({ status: 304, description: 'Not changed since.' }),
    ScimProblems('invalid_value', 'not_found'),
  );

export const DocReplaceGroup = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Replace a group',
      description:
        'What is omitted is unassigned, but for members and roles. For a key with the profile `midpoint` all that is ' +
        'omitted stays.',
    }),
    ResourceId(),
    ViewQuery(),
    IfMatch(),
    ApiBody({
      type: ScimGroupDto,
      examples: { rename: { value: { schemas: [GROUP_SCHEMA], displayName: 'Newsroom' } } },
    }),
    ApiResponse({ status: 200, description: 'The group afterwards.', type: ScimGroupDto, headers: ETAG }),
    ScimChangeProblems('invalid_value', ...OF_CHANGES),
  );

const patchOf = (...Operations: object[]) => ({ value: { schemas: [PATCH_MESSAGE], Operations } });

export const DocPatchGroup = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Change a group or its members',
      description:
        'Operations in their order, and all or none. A member more costs the same in a group of any size. 204 for a key ' +
        'with the profile `entra`, and where more than 1,000 members would be answered that nobody has asked for.',
    }),
    ResourceId(),
    ViewQuery(),
    IfMatch(),
    ApiBody({
      type: ScimPatchDto,
      examples: {
        standard: patchOf({ op: 'add', path: 'members', value: [{ value: JANE }, { value: JOHN }] }),
        entra: patchOf({ op: 'Remove', path: 'members', value: [{ value: JANE }] }),
        okta: patchOf({ op: 'remove', path: `members[value eq "${JANE}"]` }),
        midpoint: patchOf({ op: 'replace', path: 'displayName', value: 'Newsroom of the year' }),
      },
    }),
    ApiResponse({ status: 200, description: 'The group afterwards.', type: ScimGroupDto, headers: ETAG }),
    ApiResponse({ status: 204, description: 'It is done.', headers: ETAG }),
    ScimChangeProblems(
      'invalid_value',
      'invalid_syntax',
      'invalid_path',
      'invalid_filter',
      'no_target',
      'mutability',
      'too_many',
      ...OF_CHANGES,
    ),
  );

export const DocDeleteGroup = () =>
  applyDecorators(
    ApiOperation({ summary: 'Delete a group', description: 'For good. Its members lose its roles.' }),
    ResourceId(),
    IfMatch(),
    ApiResponse({ status: 204, description: 'There is no such group any more.' }),
    ScimDeleteProblems(...OF_CHANGES),
  );
