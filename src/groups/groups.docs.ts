import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { ChangeBodyProblems, NEXT, Problems, Secured } from '../platform/openapi/docs.js';
import { GroupRolesInput } from './group.input.js';
import { GroupMembersQuery, GroupQuery } from './group.query.js';
import { GroupDetailsDto, GroupDto, GroupPageDto } from './group.view.js';

/** OpenAPI descriptions of the routes of `groups.controller.ts`. */

const ETAG = {
  ETag: {
    description: 'The version of the group, for If-Match.',
    schema: { type: 'string', maxLength: 64 },
  },
} as const;
const GroupId = () =>
  ApiParam({
    name: 'group_id',
    format: 'uuid',
    description: 'In any case.',
    example: '0198f3a2-7b40-7d15-8f3a-5e0c9a417d22',
  });

export const DocListGroups = () =>
  applyDecorators(
    ApiOperation({
      summary: 'List groups',
      description:
        'Without their members. Identity providers write groups over SCIM. All conditions must hold; the ' +
        '`Link: rel="next"` header leads to the next page at constant cost.',
    }),
    ApiQuery({ type: GroupQuery }),
    ApiResponse({
      status: 200,
      description: 'A page of groups and the number of all that match.',
      type: GroupPageDto,
      headers: NEXT,
    }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );

export const DocGetGroup = () =>
  applyDecorators(
    ApiOperation({ summary: 'One group', description: 'With its members, up to 1,000 a page.' }),
    GroupId(),
    ApiQuery({ type: GroupMembersQuery }),
    ApiResponse({
      status: 200,
      description: 'The group and a page of its members.',
      type: GroupDetailsDto,
      headers: { ...ETAG, ...NEXT },
    }),
    Secured(),
    Problems('malformed_uuid', 'unauthenticated', 'forbidden', 'not_found'),
  );

export const DocPutGroup = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Set the roles that members of a group hold',
      description:
        'Members hold them beside their own roles, as long as they are members. An API key needs the scope `webmasters` ' +
        'too. Nothing is changed where one member would break a rule. What GET returned may be sent back.',
    }),
    GroupId(),
    ApiHeader({
      name: 'If-Match',
      required: false,
      description: 'The ETag of the group that was read; 412 when it has changed since.',
      schema: { type: 'string', maxLength: 16_384 },
    }),
    ApiBody({
      type: GroupRolesInput,
      examples: { give: { value: { roles: ['Editor'] } }, take: { value: { roles: [] } } },
    }),
    ApiResponse({ status: 200, description: 'The group after the change.', type: GroupDto, headers: ETAG }),
    Secured(),
    ChangeBodyProblems('malformed_uuid', 'not_found', 'last_webmaster', 'precondition_failed'),
  );
