import { Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { SCIM_BODY } from '../../platform/http/body-reader.js';
import { abortOnDisconnect } from '../../platform/http/stream.js';
import { TAKEN_CODES } from '../../users/rules/failure.js';
import { rulesOf } from '../http/profile-rules.js';
import { EntityTags, applyETag } from '../../platform/http/entity-tags.js';
import { describeResources } from '../discovery/resources.js';
import { RequiresScim, ScimController } from '../http/scim-format.js';
import { CurrentRequest, type ScimRequest } from '../http/scim-request.js';
import { ScimListOf, buildResourceDocs } from '../http/scim-docs.js';
import type { ScimObject } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA, SEARCH_MESSAGE, USER_SCHEMA } from '../protocol/urns.js';
import { ScimUserChanges } from './scim-user-changes.service.js';
import { ScimUserList } from './scim-user-list.service.js';
import { ScimUsers } from './scim-users.service.js';

class ScimUserDto {
  schemas!: string[];
  id!: string;
}

class ScimUserListDto extends ScimListOf(ScimUserDto) {}

const DocUser = buildResourceDocs({
  description: describeResources([]).user,
  resource: ScimUserDto,
  list: ScimUserListDto,
  taken: TAKEN_CODES,
  ofChanges: ['last_webmaster', 'fuse_blown', 'mutability'],
});

const NEW_USERS = {
  standard: {
    schemas: [USER_SCHEMA],
    userName: 'robin.ray',
    externalId: 'IDP-20001',
    name: { givenName: 'Robin', familyName: 'Ray' },
    emails: [{ value: 'robin.ray@example.org', type: 'work', primary: true }],
    active: true,
  },
  entra: {
    schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
    userName: 'iris.king@example.org',
    externalId: 'b3f0a1d2-0001',
    displayName: 'Iris King',
    emails: [{ value: 'iris.king@example.org', type: 'work', primary: true }],
    active: true,
    [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '701984' },
  },
  okta: {
    schemas: [USER_SCHEMA],
    userName: 'lin.wood@example.org',
    name: { givenName: 'Lin', familyName: 'Wood' },
    emails: [{ primary: true, value: 'lin.wood@example.org', type: 'work' }],
    locale: 'en-US',
    active: true,
  },
};

@ScimController('Users')
export class ScimUsersController {
  constructor(
    private readonly users: ScimUsers,
    private readonly changes: ScimUserChanges,
    private readonly lists: ScimUserList,
    private readonly tags: EntityTags,
  ) {}

  @Get()
  @DocUser.list(
    'listScimUsers',
    'Sorted by creation time, or by `sortBy`. Filters on these attributes use an index: id, userName, ' +
      'externalId, emails, displayName, employeeNumber, department, active, roles, manager, groups, meta.created, ' +
      'meta.lastModified, name.givenName, name.familyName.',
    'userName eq "jane.doe"',
  )
  @RequiresScim('users.read')
  async list(@CurrentRequest() { query, caller, response }: ScimRequest): Promise<ScimObject> {
    return this.lists.list(query, caller.actor, () => abortOnDisconnect(response));
  }

  @Post('.search')
  @DocUser.search(
    'searchScimUsers',
    'Like GET, but with the parameters in the body. Use it for filters that must not appear in logs.',
    { 'by name': { schemas: [SEARCH_MESSAGE], filter: 'userName sw "j"', startIndex: 1, count: 10 } },
  )
  @HttpCode(200)
  @RequiresScim('users.read', SCIM_BODY)
  async search(@CurrentRequest() { body, caller, response }: ScimRequest): Promise<ScimObject> {
    return this.lists.list(body, caller.actor, () => abortOnDisconnect(response));
  }

  @Post()
  @DocUser.create({ examples: NEW_USERS, errors: ['mutability'] })
  @RequiresScim('users.create', SCIM_BODY)
  async create(@CurrentRequest() { body, query, caller, response }: ScimRequest): Promise<ScimObject> {
    const view = this.users.createPresenter(query);
    const user = await this.users.write(await this.changes.create(body, caller), caller);
    this.tags.applyWeakTag(response, user).location(this.users.locationOf(user));
    return view(user, caller.repeatable?.transaction);
  }

  @Get(':id')
  @DocUser.get()
  @RequiresScim('users.read')
  async get(@CurrentRequest() { id, query, caller, response }: ScimRequest): Promise<ScimObject | undefined> {
    const view = this.users.createPresenter(query);
    const user = await this.users.get(id, caller);
    return applyETag(response, this.tags.weakTagOf(user)) ? view(user) : undefined;
  }

  @Put(':id')
  @DocUser.replace(
    'Omitted attributes are cleared, except for active, roles, emails, password and omitted extensions. ' +
      'For an API key with the profile `midpoint`, all omitted attributes are retained.',
    { rename: { schemas: [USER_SCHEMA], userName: 'robin.newname', title: 'Guide' } },
  )
  @RequiresScim('users.update', SCIM_BODY)
  async replace(
    @CurrentRequest() { id, body, query, ifMatch, caller, response }: ScimRequest,
  ): Promise<ScimObject> {
    const view = this.users.createPresenter(query);
    const change = await this.changes.replace(id, body, caller, this.tags.parseIfMatch(ifMatch));
    const user = await this.users.write(change, caller);
    this.tags.applyWeakTag(response, user);
    return view(user, caller.repeatable?.transaction);
  }

  @Patch(':id')
  @DocUser.patch(
    'Change a user',
    'Applies all operations in order, or none. Returns 204 without a body to an API key with the profile `entra` if `attributes` is not sent.',
    {
      standard: { op: 'replace', path: 'name.familyName', value: 'Rey' },
      entra: { op: 'Replace', path: 'active', value: 'False' },
      okta: { op: 'replace', value: { active: false } },
      midpoint: { op: 'add', path: 'phoneNumbers', value: [{ type: 'work', value: '+1 555 0100' }] },
    },
  )
  @RequiresScim('users.update', SCIM_BODY)
  async patch(
    @CurrentRequest() { id, body, query, ifMatch, caller, response }: ScimRequest,
  ): Promise<ScimObject | undefined> {
    const view = this.users.createPresenter(query);
    const isBrief = rulesOf(caller.actor).isBrief && query.attributes === undefined;
    const change = await this.changes.patch(id, body, caller, this.tags.parseIfMatch(ifMatch));
    const user = await this.users.write(change, caller);
    this.tags.applyWeakTag(response, user);
    if (!isBrief) return view(user, caller.repeatable?.transaction);
    response.status(204);
    return undefined;
  }

  @Delete(':id')
  @DocUser.delete(
    'Ends the sessions of the user, removes the user from all groups, and frees userName and other unique values for other users. `rollcall users restore` restores the user.',
  )
  @HttpCode(204)
  @RequiresScim('users.update')
  async delete(@CurrentRequest() { id, ifMatch, caller }: ScimRequest): Promise<void> {
    await this.users.write(this.changes.delete(id, caller, this.tags.parseIfMatch(ifMatch)), caller);
  }
}
