import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { hasScope, createScopeError } from '../access/policy.js';
import { ProblemError } from '../platform/common/errors.js';
import { Resources } from './discovery/resources.js';
import { ScimGroupList } from './groups/scim-group-list.service.js';
import type { ScimObject } from './protocol/attribute.js';
import {
  type ListParameters,
  type ListQuery,
  type ResourcePage,
  buildListResponse,
  readListQuery,
} from './protocol/list.js';
import { ScimUserList } from './users/scim-user-list.service.js';

type ReadPart = (query: Partial<Pick<ListQuery, 'startIndex' | 'count' | 'cursor'>>) => Promise<ResourcePage>;

const NOTHING: ResourcePage = { resources: [], total: 0, next: undefined };

/** The first letter of a cursor: `u` if the next page starts with users, `g` if it starts with groups. */
const [OF_USERS, OF_GROUPS] = ['u', 'g'];

/**
 * Searches users and groups in one list (RFC 7644, section 3.4.3). Users come before groups. Omits resource types that
 * the key may not read.
 */
@Injectable()
export class ScimSearch {
  constructor(
    private readonly users: ScimUserList,
    private readonly groups: ScimGroupList,
    private readonly resources: Resources,
  ) {}

  /**
   * @throws ProblemError `insufficient_scope` if the key may read neither users nor groups, or an error of
   * `ScimUserList.list` or `ScimGroupList.list`.
   */
  async list(parameters: ListParameters, actor: Actor, getSignal: () => AbortSignal): Promise<ScimObject> {
    const { user, group } = this.resources;
    const [seesUsers, seesGroups] = [hasScope(actor, 'users:read'), hasScope(actor, 'groups:read')];
    if (!seesUsers && !seesGroups) throw createScopeError('users:read');
    const query = readListQuery(parameters, user, [group]);
    const ofGroups = readListQuery(parameters, group, [user]);
    const readUsers: ReadPart = async (start) =>
      seesUsers ? this.users.readPage({ ...query, ...start }, actor, getSignal) : NOTHING;
    const readGroups: ReadPart = async (start) =>
      seesGroups ? this.groups.readPage({ ...ofGroups, ...start }, actor) : NOTHING;
    const read = query.cursor === undefined ? readByIndex : readByCursor;
    return buildListResponse(query, await read(query, readUsers, readGroups));
  }
}

async function readByIndex(
  { startIndex, count }: ListQuery,
  readUsers: ReadPart,
  readGroups: ReadPart,
): Promise<ResourcePage> {
  const first = await readUsers({});
  const before = first.total ?? 0;
  const start = { startIndex: Math.max(1, startIndex - before), count: count - first.resources.length };
  const second = await readGroups(start);
  return {
    resources: [...first.resources, ...second.resources],
    total: before + (second.total ?? 0),
    next: undefined,
  };
}

async function readByCursor(
  { count, cursor = '' }: ListQuery,
  readUsers: ReadPart,
  readGroups: ReadPart,
): Promise<ResourcePage> {
  const [type, rest] = [cursor.slice(0, 1), cursor.slice(1)];
  if (type === OF_GROUPS) return toPage(await readGroups({ cursor: rest }), OF_GROUPS);
  if (type !== '' && type !== OF_USERS)
    throw new ProblemError('invalid_cursor', 'cursor is invalid for this list. Start with an empty cursor.');
  const first = await readUsers({ cursor: rest });
  const left = count - first.resources.length;
  if (count === 0 || first.next !== undefined) return toPage(first, OF_USERS);
  if (left > 0) {
    const second = await readGroups({ cursor: '', count: left });
    return toPage({ ...second, resources: [...first.resources, ...second.resources] }, OF_GROUPS);
  }
  const { resources } = await readGroups({ cursor: '', count: 1 });
  return toPage({ ...first, next: resources.length > 0 ? '' : undefined }, OF_GROUPS);
}

function toPage({ resources, next }: ResourcePage, type = ''): ResourcePage {
  return { resources, total: undefined, next: next === undefined ? undefined : `${type}${next}` };
}
