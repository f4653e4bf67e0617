import { Body, Get, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { SCIM_BODY } from '../platform/http/body-reader.js';
import { departureOf } from '../platform/http/stream.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { ScimController } from './http/scim-format.js';
import type { ScimObject } from './protocol/attribute.js';
import { ScimSearch } from './scim-search.service.js';
import { DocFindAll, DocSearchAll } from './search.docs.js';
import type { ListParameters } from './users/scim-user-list.service.js';

/** Users and groups in one list. */
@ScimController()
export class SearchController {
  constructor(private readonly search: ScimSearch) {}

  @Get()
  @DocFindAll()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  async find(
    @CheckedQuery() query: ListParameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    return this.search.list(query, caller.actor, () => departureOf(response));
  }

  @Post('.search')
  @DocSearchAll()
  @HttpCode(200)
  @Requires('scim.discover')
  @Accepts({ body: SCIM_BODY, anyQuery: true })
  async findByPost(
    @Body() body: ListParameters,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScimObject> {
    return this.search.list(body, caller.actor, () => departureOf(response));
  }
}
