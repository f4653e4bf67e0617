import { Body, Controller, Get, Headers, HttpCode, Param, Put, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { nextPage } from '../platform/http/page.js';
import { type Checked, InputPipe } from '../platform/input/read-input.js';
import { etagOf, versionsIn } from '../platform/http/request-headers.js';
import { GroupRolesInput } from './group.input.js';
import { GroupMembersQuery, GroupQuery } from './group.query.js';
import {
  type GroupDetailsDto,
  type GroupDto,
  type GroupPageDto,
  presentDetails,
  presentGroup,
} from './group.view.js';
import { DocGetGroup, DocListGroups, DocPutGroup } from './groups.docs.js';
import { GroupsService } from './groups.service.js';

/** Groups for operators: identity providers write them over SCIM, and their roles are given here. */
@ApiTags('groups')
@Controller('groups')
export class GroupsController {
  constructor(private readonly groups: GroupsService) {}

  @Get()
  @DocListGroups()
  @Requires('groups.read')
  @Accepts({ query: GroupQuery })
  async list(
    @CheckedQuery() query: GroupQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupPageDto> {
    const { count, groups, next } = await this.groups.list(query);
    if (next) response.links({ next: nextPage(request, next) });
    return { Count: count, Results: groups.map(presentGroup) };
  }

  @Get(':group_id')
  @DocGetGroup()
  @Requires('groups.read')
  @Accepts({ query: GroupMembersQuery })
  async get(
    @Param('group_id') uuid: string,
    @CheckedQuery() query: GroupMembersQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupDetailsDto> {
    const details = await this.groups.details(uuid, query);
    if (details.next) response.links({ next: nextPage(request, details.next) });
    response.setHeader('ETag', etagOf(details.group));
    return presentDetails(details);
  }

  @Put(':group_id')
  @DocPutGroup()
  @HttpCode(200)
  @Requires('groups.write')
  @Accepts({ body: true })
  async setRoles(
    @Param('group_id') uuid: string,
    @Body(new InputPipe(GroupRolesInput)) input: Checked<GroupRolesInput>,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GroupDto> {
    const group = await this.groups.setRoles(uuid, input, versionsIn(ifMatch), caller);
    response.setHeader('ETag', etagOf(group));
    return presentGroup(group);
  }
}
