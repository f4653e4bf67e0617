import { Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { SCIM_GROUP_BODY } from '../../platform/http/body-reader.js';
import { rulesOf } from '../http/profile-rules.js';
import { EntityTags, applyETag } from '../../platform/http/entity-tags.js';
import { describeResources } from '../discovery/resources.js';
import { RequiresScim, ScimController } from '../http/scim-format.js';
import { CurrentRequest, type ScimRequest } from '../http/scim-request.js';
import { ScimListOf, buildResourceDocs } from '../http/scim-docs.js';
import type { ScimObject } from '../protocol/attribute.js';
import { GROUP_SCHEMA, SEARCH_MESSAGE } from '../protocol/urns.js';
import { ScimGroupList } from './scim-group-list.service.js';
import { ScimGroups } from './scim-groups.service.js';

class ScimGroupDto {
  schemas!: string[];
  id!: string;
}

class ScimGroupListDto extends ScimListOf(ScimGroupDto) {}

const DocGroup = buildResourceDocs({
  description: describeResources([]).group,
  resource: ScimGroupDto,
  list: ScimGroupListDto,
  taken: ['display_name_taken', 'external_id_taken'],
  ofChanges: ['last_webmaster'],
});

const JANE = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const JOHN = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e11';

@ScimController('Groups')
export class ScimGroupsController {
  constructor(
    private readonly groups: ScimGroups,
    private readonly lists: ScimGroupList,
    private readonly tags: EntityTags,
  ) {}

  @Get()
  @DocGroup.list(
    'listScimGroups',
    'Sorted by creation time, or by `sortBy`. A page ends early when its groups have 10,000 members in total. With ' +
      '`excludedAttributes=members`, members are not read. Filters on displayName, externalId, id, members, meta.created ' +
      'and meta.lastModified use an index.',
    'displayName eq "Newsroom"',
  )
  @RequiresScim('groups.read')
  async list(@CurrentRequest() { query, caller }: ScimRequest): Promise<ScimObject> {
    return this.lists.list(query, caller.actor);
  }

  @Post('.search')
  @DocGroup.search('searchScimGroups', 'Like GET, with the parameters in the body.', {
    'by member': {
      schemas: [SEARCH_MESSAGE],
      filter: `members.value eq "${JANE}"`,
      excludedAttributes: ['members'],
    },
  })
  @HttpCode(200)
  @RequiresScim('groups.read', SCIM_GROUP_BODY)
  async search(@CurrentRequest() { body, caller }: ScimRequest): Promise<ScimObject> {
    return this.lists.list(body, caller.actor);
  }

  @Post()
  @DocGroup.create({
    description: 'Unknown user ids among the members are ignored.',
    examples: {
      standard: { schemas: [GROUP_SCHEMA], displayName: 'Press office', members: [{ value: JANE }] },
      entra: { schemas: [GROUP_SCHEMA], externalId: '8aa1a0c0-0001', displayName: 'Research' },
      okta: { schemas: [GROUP_SCHEMA], displayName: 'Field service', members: [] },
    },
  })
  @RequiresScim('groups.write', SCIM_GROUP_BODY)
  async create(@CurrentRequest() { body, query, caller, response }: ScimRequest): Promise<ScimObject> {
    const view = this.lists.createPresenter(query, caller.actor);
    const group = await this.groups.create(body, caller);
    this.tags.applyWeakTag(response, group).location(this.lists.locationOf(group));
    return view(group, caller.repeatable?.transaction);
  }

  @Get(':id')
  @DocGroup.get({
    description: 'Without `excludedAttributes=members`, includes all members.',
  })
  @RequiresScim('groups.read')
  async get(@CurrentRequest() { id, query, caller, response }: ScimRequest): Promise<ScimObject | undefined> {
    const view = this.lists.createPresenter(query, caller.actor);
    const group = await this.groups.get(id);
    return applyETag(response, this.tags.weakTagOf(group)) ? view(group) : undefined;
  }

  @Put(':id')
  @DocGroup.replace(
    'Omitted attributes are cleared, except for members and roles. For an API key with the profile `midpoint`, all omitted ' +
      'attributes are retained.',
    { rename: { schemas: [GROUP_SCHEMA], displayName: 'Newsroom' } },
  )
  @RequiresScim('groups.write', SCIM_GROUP_BODY)
  async replace(
    @CurrentRequest() { id, body, query, ifMatch, caller, response }: ScimRequest,
  ): Promise<ScimObject> {
    const view = this.lists.createPresenter(query, caller.actor);
    const group = await this.groups.replace(id, body, caller, this.tags.parseIfMatch(ifMatch));
    this.tags.applyWeakTag(response, group);
    return view(group, caller.repeatable?.transaction);
  }

  @Patch(':id')
  @DocGroup.patch(
    'Change a group or its members',
    'Applies all operations in order, or none. The response contains all members, unless the request has ' +
      '`excludedAttributes=members`. Returns 204 without a body to an API key with the profile `entra` if `attributes` is not sent.',
    {
      standard: { op: 'add', path: 'members', value: [{ value: JANE }, { value: JOHN }] },
      entra: { op: 'Remove', path: 'members', value: [{ value: JANE }] },
      okta: { op: 'remove', path: `members[value eq "${JANE}"]` },
      midpoint: { op: 'replace', path: 'displayName', value: 'Newsroom of the year' },
    },
  )
  @RequiresScim('groups.write', SCIM_GROUP_BODY)
  async patch(
    @CurrentRequest() { id, body, query, ifMatch, caller, response }: ScimRequest,
  ): Promise<ScimObject | undefined> {
    const view = this.lists.createPresenter(query, caller.actor);
    const isBrief = rulesOf(caller.actor).isBrief && query.attributes === undefined;
    const group = await this.groups.patch(id, body, caller, this.tags.parseIfMatch(ifMatch));
    this.tags.applyWeakTag(response, group);
    if (!isBrief) return view(group, caller.repeatable?.transaction);
    response.status(204);
    return undefined;
  }

  @Delete(':id')
  @DocGroup.delete('A deleted group cannot be restored. Members lose its roles.')
  @HttpCode(204)
  @RequiresScim('groups.write')
  async delete(@CurrentRequest() { id, ifMatch, caller }: ScimRequest): Promise<void> {
    await this.groups.delete(id, caller, this.tags.parseIfMatch(ifMatch));
  }
}
