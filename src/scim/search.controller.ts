import { Get, HttpCode, Post } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { SCIM_BODY } from '../platform/http/body-reader.js';
import { abortOnDisconnect } from '../platform/http/stream.js';
import { RequiresScim, ScimController } from './http/scim-format.js';
import { CurrentRequest, type ScimRequest } from './http/scim-request.js';
import { ScimListDto, buildListDocs } from './http/scim-docs.js';
import type { ScimObject } from './protocol/attribute.js';
import { MAX_COUNT } from './protocol/list.js';
import { SEARCH_MESSAGE } from './protocol/urns.js';
import { ScimSearch } from './scim-search.service.js';

class ResourceListDto extends ScimListDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', description: 'A user or a group. `meta.resourceType` contains the type.' },
    maxItems: MAX_COUNT,
  })
  Resources!: object[];
}

const DocResource = buildListDocs('users and groups', 'resources', ResourceListDto);
const DESCRIPTION =
  'Returns users, then groups. Omits users or groups if the scopes of the key do not permit them. If only one resource ' +
  'type has the attribute of a filter, only this type is found. To find only groups, filter by `meta.resourceType eq "Group"`.';

@ScimController()
export class SearchController {
  constructor(private readonly search: ScimSearch) {}

  @Get()
  @DocResource.list('listScimResources', DESCRIPTION, 'externalId eq "HR-20001"')
  @RequiresScim('scim.discover')
  async find(@CurrentRequest() { query, caller, response }: ScimRequest): Promise<ScimObject> {
    return this.search.list(query, caller.actor, () => abortOnDisconnect(response));
  }

  @Post('.search')
  @DocResource.search('searchScimResources', DESCRIPTION, {
    groups: { schemas: [SEARCH_MESSAGE], filter: 'meta.resourceType eq "Group"', count: 10 },
  })
  @HttpCode(200)
  @RequiresScim('scim.discover', SCIM_BODY)
  async findByPost(@CurrentRequest() { body, caller, response }: ScimRequest): Promise<ScimObject> {
    return this.search.list(body, caller.actor, () => abortOnDisconnect(response));
  }
}
