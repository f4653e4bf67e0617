import { Body, Delete, Get, Headers, HttpCode, Param, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../access/actor.js';
import { CurrentCaller, Requires } from '../../access/decorators.js';
import { SCIM_BODY } from '../../platform/http/body-reader.js';
import { departureOf } from '../../platform/http/stream.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import type { User } from '../../users/model/user.js';
import { rulesOf } from '../http/key-rules.js';
import { etagOf, isNotModified, versionsIn } from '../../platform/http/request-headers.js';
import { ScimController } from '../http/scim-format.js';
import type { ScimObject } from '../protocol/attribute.js';
import { ScimUserList, type ListParameters } from './scim-user-list.service.js';
import { DocCreate, DocDelete, DocGet, DocList, DocPatch, DocReplace, DocSearch } from './scim-users.docs.js';
import { ScimUserView } from './scim-user-view.service.js';
import { ScimUsers } from './scim-users.service.js';

const BODY = { body: SCIM_BODY, anyQuery: true } as const;

@ScimController('Users')
export class ScimUsersController {
  constructor(
    private readonly users: ScimUsers,
    private readonly lists: ScimUserList,
    private readonly view: ScimUserView,
  ) {}

  @Get()
  @DocList()
  @Requires('users.read')
  @Accepts({ anyQuery: true })
  async list(
    @CheckedQuery() query: ListParameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    return this.lists.list(query, caller.actor, () => departureOf(response));
  }

  @Post('.search')
  @DocSearch()
  @HttpCode(200)
  @Requires('users.read')
  @Accepts(BODY)
  async search(
    @Body() body: ListParameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    return this.lists.list(body, caller.actor, () => departureOf(response));
  }

  @Post()
  @DocCreate()
  @Requires('users.create')
  @Accepts(BODY)
  async create(
    @Body() body: object,
    @CheckedQuery() query: ListParameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    const view = this.view.of(query);
    const user = await this.users.create(body, caller);
    this.tag(user, response).location(this.view.locationOf(user));
    return view(user, caller.repeatable?.transaction);
  }

  @Get(':id')
  @DocGet()
  @Requires('users.read')
  @Accepts({ anyQuery: true })
  async get(
    @Param('id') id: string,
    @CheckedQuery() query: ListParameters,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject | undefined> {
    const view = this.view.of(query);
    const user = await this.users.get(id, caller);
    this.tag(user, response);
    if (!isNotModified(request.get('if-none-match'), user.version)) return view(user);
    response.status(304);
    return undefined;
  }

  @Put(':id')
  @DocReplace()
  @Requires('users.update')
  @Accepts(BODY)
  async replace(
    @Param('id') id: string,
    @Body() body: object,
    @CheckedQuery() query: ListParameters,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    const view = this.view.of(query);
    const user = await this.users.replace(id, body, caller, versionsIn(ifMatch));
    this.tag(user, response);
    return view(user, caller.repeatable?.transaction);
  }

  @Patch(':id')
  @DocPatch()
  @Requires('users.update')
  @Accepts(BODY)
  async patch(
    @Param('id') id: string,
    @Body() body: object,
    @CheckedQuery() query: ListParameters,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject | undefined> {
    const view = this.view.of(query);
    const isBrief = rulesOf(caller.actor).isBrief && query.attributes === undefined;
    const user = await this.users.patch(id, body, caller, versionsIn(ifMatch));
    this.tag(user, response);
    if (!isBrief) return view(user, caller.repeatable?.transaction);
    response.status(204);
    return undefined;
  }

  @Delete(':id')
  @DocDelete()
  @HttpCode(204)
  @Requires('users.update')
  @Accepts({ anyQuery: true })
  async delete(
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    await this.users.delete(id, caller, versionsIn(ifMatch));
  }

  private tag(user: User, response: Response): Response {
    return response.setHeader('ETag', etagOf(user));
  }
}
