import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { hasScope, insufficientScope } from '../access/policy.js';
import { ProblemError } from '../platform/common/errors.js';
import { Resources } from './discovery/resources.js';
import { ScimGroupView } from './groups/scim-group-view.service.js';
import type { ScimObject } from './protocol/attribute.js';
import { type ListQuery, listResponse, readListQuery } from './protocol/list.js';
import { type ListParameters, ScimUserList } from './users/scim-user-list.service.js';
import { ScimUserView } from './users/scim-user-view.service.js';

/** A part of a page, of one type of resource. */
interface Part {
  resources: readonly ScimObject[];
  total: number | undefined;
  next: string | undefined;
}

type ReadPart = (query: Partial<Pick<ListQuery, 'startIndex' | 'count' | 'cursor'>>) => Promise<Part>;

const NOTHING: Part = { resources: [], total: 0, next: undefined };
const none: ReadPart = async () => NOTHING;

/** Cursors say which type they walk. */
const [OF_USERS, OF_GROUPS] = ['u', 'g'];

/** Searches over all types of resource (RFC 7644, section 3.4.3): users, then groups, as far as the key may read them. */
@Injectable()
export class ScimSearch {
  constructor(
    private readonly users: ScimUserList,
    private readonly userView: ScimUserView,
    private readonly groups: ScimGroupView,
    private readonly resources: Resources,
  ) {}

  /** @throws ProblemError `insufficient_scope` for a key that may read neither; as the lists of each type. */
  async list(parameters: ListParameters, actor: Actor, departure: () => AbortSignal): Promise<ScimObject> {
    const { user, group } = this.resources;
    const [seesUsers, seesGroups] = [hasScope(actor, 'users:read'), hasScope(actor, 'groups:read')];
    if (!seesUsers && !seesGroups) throw insufficientScope('users:read');
    const query = readListQuery(parameters, user, [group]);
    const ofGroups = readListQuery(parameters, group, [user]);
    const users: ReadPart = async (place) => this.usersOf({ ...query, ...place }, actor, departure);
    const groups: ReadPart = async (place) => this.groupsOf({ ...ofGroups, ...place }, actor);
    const [first, second] = [seesUsers ? users : none, seesGroups ? groups : none];
    return query.cursor === undefined
      ? byIndex(query, first, second)
      : byCursor(query, query.cursor, first, second);
  }

  private async usersOf(query: ListQuery, actor: Actor, departure: () => AbortSignal): Promise<Part> {
    const { users, total, next } = await this.users.page(query, actor, departure);
    const resources = await this.userView.all(users, query.projection);
    return { resources, total, next };
  }

  private async groupsOf(query: ListQuery, actor: Actor): Promise<Part> {
    const { groups, total, next } = await this.groups.page(query, actor);
    return { resources: groups, total, next };
  }
}

async function byIndex(
  { startIndex, count }: ListQuery,
  users: ReadPart,
  groups: ReadPart,
): Promise<ScimObject> {
  const first = await users({});
  const before = first.total ?? 0;
  const place = { startIndex: Math.max(1, startIndex - before), count: count - first.resources.length };
  const second = await groups(place);
  return listResponse({
    resources: [...first.resources, ...second.resources],
    totalResults: before + (second.total ?? 0),
    startIndex,
  });
}

async function byCursor(
  { count }: ListQuery,
  cursor: string,
  users: ReadPart,
  groups: ReadPart,
): Promise<ScimObject> {
  const [type, place] = [cursor.slice(0, 1), cursor.slice(1)];
  if (type === OF_GROUPS) return page(await groups({ cursor: place }), OF_GROUPS);
  if (type !== '' && type !== OF_USERS)
    throw new ProblemError('invalid_cursor', 'cursor is not one of this list, with this filter and order.');
  const first = await users({ cursor: place });
  const left = count - first.resources.length;
  if (count === 0 || first.next !== undefined) return page(first, OF_USERS);
  if (left > 0) {
    const second = await groups({ cursor: '', count: left });
    return page({ ...second, resources: [...first.resources, ...second.resources] }, OF_GROUPS);
  }
  const { resources } = await groups({ cursor: '', count: 1 });
  return page({ ...first, next: resources.length > 0 ? '' : undefined }, OF_GROUPS);
}

const page = ({ resources, next }: Part, type = ''): ScimObject =>
  listResponse({ resources, ...(next !== undefined && { nextCursor: `${type}${next}` }) });
