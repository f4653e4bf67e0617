import { Body, Get, Headers, Param, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { EntityTags } from '../platform/http/entity-tags.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { buildNextPageUrl } from '../platform/http/page.js';
import { type CheckedInput, InputPipe } from '../platform/input/read-input.js';
import { CASE_INSENSITIVE, NEXT_PAGE_LINK, describeHeader } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { GroupRolesInput } from './group.input.js';
import { GroupMembersQuery, GroupQuery } from './group.query.js';
import { GroupDetailsDto, GroupDto, GroupPageDto, presentDetails, presentGroup } from './group.view.js';
import { GroupsService } from './groups.service.js';

const ETAG = describeHeader('ETag', 'Version of the group, to be sent as `If-Match`.', { maxLength: 64 });
const ID = { ...CASE_INSENSITIVE, example: '0198f3a2-7b40-7d15-8f3a-5e0c9a417d22' } as const;

/** Lets operators read groups and set their roles. Identity providers write the other fields over SCIM. */
@ApiController('groups', 'groups')
export class GroupsController {
  constructor(
    private readonly groups: GroupsService,
    private readonly tags: EntityTags,
  ) {}

  @Get()
  @DescribeRoute('listGroups', 'List groups', {
    description:
      'Returns groups that match all conditions, without their members. Identity providers create and change groups over ' +
      'SCIM. The `Link: rel="next"` header points to the next page. Later pages take no longer than the first.',
    answer: describeJson('A page of groups and the total number of matches.', GroupPageDto, NEXT_PAGE_LINK),
  })
  @Requires('groups.read')
  @Accepts({ query: GroupQuery })
  async list(
    @CheckedQuery() query: GroupQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupPageDto> {
    const { count, groups, next } = await this.groups.list(query);
    if (next) response.links({ next: buildNextPageUrl(response.req, next) });
    return { Count: count, Results: groups.map(presentGroup) };
  }

  @Get(':group_id')
  @DescribeRoute('getGroup', 'Get a group', {
    description: 'Returns a group and a page of up to 1,000 members.',
    id: ID,
    answer: describeJson('The group and a page of its members.', GroupDetailsDto, {
      ...ETAG,
      ...NEXT_PAGE_LINK,
    }),
  })
  @Requires('groups.read')
  @Accepts({ query: GroupMembersQuery })
  async get(
    @Param('group_id') uuid: string,
    @CheckedQuery() query: GroupMembersQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupDetailsDto> {
    const details = await this.groups.getDetails(uuid, query);
    if (details.next) response.links({ next: buildNextPageUrl(response.req, details.next) });
    this.tags.applyWeakTag(response, details.group);
    return presentDetails(details);
  }

  @Put(':group_id')
  @DescribeRoute('setGroupRoles', 'Set the roles of a group', {
    description:
      'Members have these roles in addition to their own roles, for as long as they are members. If the roles are ' +
      'invalid for one member, nothing is changed. The response of GET is accepted as the body.',
    id: ID,
    ifMatch: 'Last ETag that the client read. The request fails with 412 if the group has changed since.',
    body: GroupRolesInput,
    examples: { give: { roles: ['Editor'] }, take: { roles: [] } },
    answer: describeJson('The group after the change.', GroupDto, ETAG),
    errors: ['last_webmaster', 'reauthentication_required'],
  })
  @Requires('groups.write')
  @Accepts({ body: true })
  async setRoles(
    @Param('group_id') uuid: string,
    @Body(new InputPipe(GroupRolesInput)) input: CheckedInput<GroupRolesInput>,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupDto> {
    const group = await this.groups.setRoles(uuid, input, this.tags.parseIfMatch(ifMatch), caller);
    this.tags.applyWeakTag(response, group);
    return presentGroup(group);
  }
}
