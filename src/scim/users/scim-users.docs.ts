import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiResponse } from '@nestjs/swagger';
import { LOCATION, linkTo } from '../../http/docs.js';
import { DescribedBy } from '../discovery/attribute.docs.js';
import { ENTERPRISE, ROLLCALL_USER } from '../discovery/user-extensions.js';
import { userSchema } from '../discovery/user-schema.js';
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
import { ENTERPRISE_SCHEMA, PATCH_MESSAGE, SEARCH_MESSAGE, USER_SCHEMA } from '../protocol/urns.js';

/** OpenAPI descriptions of the routes of `scim-users.controller.ts`. */

class ScimUserDto {
  schemas!: string[];
  id!: string;
}
// No decorator of the class: in the bundle it would cost the class its name, which the OpenAPI file shows.
DescribedBy(userSchema([]), [ENTERPRISE, ROLLCALL_USER], [USER_SCHEMA])(ScimUserDto);

class ScimUserListDto extends ScimListDto {
  @ApiProperty({ type: [ScimUserDto], maxItems: MAX_COUNT }) Resources!: ScimUserDto[];
}

const TAKEN = ['username_taken', 'email_taken', 'external_id_taken', 'authname_taken'] as const;
const OF_LISTS = ['invalid_value', 'invalid_filter', 'too_many', 'invalid_cursor', 'invalid_count'] as const;
const OF_CHANGES = [
  'not_found',
  ...TAKEN,
  'last_webmaster',
  'precondition_failed',
  'fuse_blown',
  'mutability',
] as const;

export const DocList = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Find users',
      description:
        'In the order of their creation, or of `sortBy`. Filters on indexed attributes cost what they find: id, userName, ' +
        'externalId, emails, displayName, employeeNumber, department, active, roles, manager, groups, meta.created, ' +
        'meta.lastModified, name.givenName, name.familyName.',
    }),
    ListQueryDocs('userName eq "jane.doe"'),
    ApiResponse({ status: 200, description: 'A page of users.', type: ScimUserListDto }),
    ScimProblems(...OF_LISTS),
  );

export const DocSearch = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Find users by POST',
      description: 'As GET, with the parameters in the body, for filters that belong in no log.',
    }),
    ApiBody({
      type: ScimSearchDto,
      examples: {
        'by name': {
          value: { schemas: [SEARCH_MESSAGE], filter: 'userName sw "j"', startIndex: 1, count: 10 },
        },
      },
    }),
    ApiResponse({ status: 200, description: 'A page of users.', type: ScimUserListDto }),
    ScimBodyProblems(...OF_LISTS),
  );

export const DocCreate = () =>
  applyDecorators(
    ApiOperation({ summary: 'Create a user' }),
    ViewQuery(),
    ApiBody({
      type: ScimUserDto,
      examples: {
        standard: {
          value: {
            schemas: [USER_SCHEMA],
            userName: 'robin.ray',
            externalId: 'IDP-20001',
            name: { givenName: 'Robin', familyName: 'Ray' },
            emails: [{ value: 'robin.ray@example.org', type: 'work', primary: true }],
            active: true,
          },
        },
        entra: {
          value: {
            schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
            userName: 'iris.king@example.org',
            externalId: 'b3f0a1d2-0001',
            displayName: 'Iris King',
            emails: [{ value: 'iris.king@example.org', type: 'work', primary: true }],
            active: true,
            [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '701984' },
          },
        },
        okta: {
          value: {
            schemas: [USER_SCHEMA],
            userName: 'lin.wood@example.org',
            name: { givenName: 'Lin', familyName: 'Wood' },
            emails: [{ primary: true, value: 'lin.wood@example.org', type: 'work' }],
            locale: 'en-US',
            active: true,
          },
        },
      },
    }),
    ApiResponse({
      status: 201,
      description: 'The user.',
      type: ScimUserDto,
      headers: { ...LOCATION, ...ETAG },
      links: {
        ...linkTo('getScimUser', 'id', '$response.body#/id'),
        ...linkTo('getUser', 'user_id', '$response.body#/id', 'The same user as the API shows it.'),
      },
    }),
    ScimChangeProblems('invalid_value', 'mutability', ...TAKEN),
  );

export const DocGet = () =>
  applyDecorators(
    ApiOperation({ summary: 'One user' }),
    ResourceId(),
    ViewQuery(),
    IfNoneMatch(),
    ApiResponse({ status: 200, description: 'The user.', type: ScimUserDto, headers: ETAG }),
    ApiResponse({ status: 304, description: 'Not changed since.' }),
    ScimProblems('invalid_value', 'not_found'),
  );

export const DocReplace = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Replace a user',
      description:
        'What is omitted is unassigned, but for active, roles, emails, password and extensions that are not named. ' +
        'For a key with the profile `midpoint` all that is omitted stays.',
    }),
    ResourceId(),
    ViewQuery(),
    IfMatch(),
    ApiBody({
      type: ScimUserDto,
      examples: { rename: { value: { schemas: [USER_SCHEMA], userName: 'robin.newname', title: 'Guide' } } },
    }),
    ApiResponse({ status: 200, description: 'The user afterwards.', type: ScimUserDto, headers: ETAG }),
    ScimChangeProblems('invalid_value', ...OF_CHANGES),
  );

const patchOf = (...Operations: object[]) => ({ value: { schemas: [PATCH_MESSAGE], Operations } });

export const DocPatch = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Change a user',
      description: 'Operations in their order, and all or none. For a key with the profile `entra` 204.',
    }),
    ResourceId(),
    ViewQuery(),
    IfMatch(),
    ApiBody({
      type: ScimPatchDto,
      examples: {
        standard: patchOf({ op: 'replace', path: 'name.familyName', value: 'Rey' }),
        entra: patchOf({ op: 'Replace', path: 'active', value: 'False' }),
        okta: patchOf({ op: 'replace', value: { active: false } }),
        midpoint: patchOf({
          op: 'add',
          path: 'phoneNumbers',
          value: [{ type: 'work', value: '+1 555 0100' }],
        }),
      },
    }),
    ApiResponse({ status: 200, description: 'The user afterwards.', type: ScimUserDto, headers: ETAG }),
    ApiResponse({ status: 204, description: 'It is done.', headers: ETAG }),
    ScimChangeProblems(
      'too_many',
      'invalid_value',
      'invalid_syntax',
      'invalid_path',
      'invalid_filter',
      'no_target',
      ...OF_CHANGES,
    ),
  );

export const DocDelete = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Delete a user',
      description:
        'Sessions end, memberships go, names are free. `rollcall users restore` brings the user back.',
    }),
    ResourceId(),
    IfMatch(),
    ApiResponse({ status: 204, description: 'There is no such user any more.' }),
    ScimDeleteProblems(...OF_CHANGES),
  );
