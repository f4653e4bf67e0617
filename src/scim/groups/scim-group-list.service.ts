import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import {
  type GroupOrder,
  GroupSearch,
  type GroupSort,
  createGroupOrder,
  createPositionGetter,
} from '../../groups/group-search.service.js';
import type { Group } from '../../groups/group.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import type { Clause, Sql } from '../../platform/database/engine/sql.js';
import {
  type KeysetPage,
  type Position,
  decodeCursor,
  encodeCursor,
  sortPage,
} from '../../platform/database/keyset-pages.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/attribute.js';
import { type Filter, usesAttribute, buildMatcher } from '../protocol/filter.js';
import {
  type ListParameters,
  type ListQuery,
  type ResourcePage,
  buildListResponse,
  readListQuery,
} from '../protocol/list.js';
import { planGroupFilter } from './group-filter-plan.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { shouldHideOperators } from '../http/profile-rules.js';
import { Projection, type ViewParameters } from '../protocol/projection.js';
import { toGroupResource } from './group.mapping.js';

/** Number of groups that are read and evaluated at a time. */
const BATCH_SIZE = 500;
/** Number of members after which a page of groups ends, even if the client requested more groups. */
const MAX_PAGE_MEMBERS = 10_000;
/** Number of groups whose members are read in one statement. */
const READ_TOGETHER = 25;

/**
 * Lists groups (scim.md, sections 7 and 8). If a filter cannot use an index, evaluates it for one group after another.
 */
@Injectable()
export class ScimGroupList {
  constructor(
    private readonly searcher: GroupSearch,
    private readonly members: GroupMembers,
    private readonly directory: UserDirectory,
    private readonly resources: Resources,
    private readonly env: Env,
  ) {}

  /**
   * Lists groups as a ListResponse.
   * @throws ProblemError an error of `readListQuery`, `invalid_cursor`, or `too_many` if too many groups or members
   * would have to be read for the filter.
   */
  async list(parameters: ListParameters, actor: Actor): Promise<ScimObject> {
    const query = readListQuery(parameters, this.resources.group);
    return buildListResponse(query, await this.readPage(query, actor));
  }

  /** Reads a page of groups. The page ends early after `MAX_PAGE_MEMBERS` members. */
  async readPage(query: ListQuery, actor: Actor): Promise<ResourcePage> {
    const { filter, cursor, startIndex, count } = query;
    const hidden = await this.findHiddenUsers(actor);
    const order = toGroupOrder(query);
    const list = [query.fingerprint, order.sort, order.order];
    const after = cursor ? decodeCursor(cursor, list, order.ranges) : undefined;
    if (cursor && !after)
      throw new ProblemError('invalid_cursor', 'cursor must be the nextCursor of a page of this list.');
    const window = { after, offset: cursor === undefined ? startIndex - 1 : 0, limit: count };
    const { conditions, rest } = planGroupFilter(filter, hidden);
    const matches = rest && (await this.scan(conditions, rest, order, hidden));
    const total = matches ? matches.length : await this.searcher.count(conditions);
    const { rows: groups, last: lastOfMore } = matches
      ? sortPage(matches, createPositionGetter(order), order.order, window)
      : await this.searcher.readPage(conditions, order, window, total);
    const whole = query.projection.hasAttribute('members')
      ? await this.readMembers(groups)
      : groups.map((group) => ({ group, members: undefined }));
    const last = whole.length < groups.length ? whole.at(-1)?.group : lastOfMore;
    return {
      resources: whole.map(({ group, members }) =>
        query.projection.apply(this.toResource(group, members, hidden)),
      ),
      total,
      next: last && encodeCursor(list, order.ranges, createPositionGetter(order)(last)),
    };
  }

  /**
   * Returns a function that converts a group to a resource. Call `createPresenter` before the change, so that nothing is
   * written if the parameters are invalid.
   * @throws ProblemError `invalid_value` if both `attributes` and `excludedAttributes` are set.
   */
  createPresenter(
    parameters: ViewParameters,
    actor: Actor,
  ): (group: Group, sql?: Sql) => Promise<ScimObject> {
    const shown = new Projection(this.resources.group, parameters);
    return async (group, sql) => {
      if (!shown.hasAttribute('members')) return shown.apply(this.toResource(group));
      const members = await this.members.listMembers(group.uuid, sql);
      return shown.apply(this.toResource(group, members, await this.findHiddenUsers(actor, sql)));
    };
  }

  locationOf({ uuid }: Group): string {
    return `${this.resources.base}/Groups/${uuid}`;
  }

  /**
   * Converts a group to a resource with all attributes.
   * @param members ids of the members, or undefined to leave out the members
   * @param hidden users that the API key must not see
   */
  private toResource(group: Group, members?: readonly string[], hidden?: ReadonlySet<string>): ScimObject {
    const shown = hidden && hidden.size > 0 ? members?.filter((uuid) => !hidden.has(uuid)) : members;
    const { base, tags } = this.resources;
    return toGroupResource(group, base, tags.weakTagOf(group), shown);
  }

  /**
   * Returns the users that the actor must not see: the local operators, unless the actor has the scope `webmasters`.
   */
  private async findHiddenUsers(actor: Actor, sql?: Sql): Promise<ReadonlySet<string>> {
    return shouldHideOperators(actor) ? this.directory.findOperatorUuids(sql) : new Set();
  }

  private async scan(
    conditions: readonly Clause[],
    rest: Filter,
    order: GroupOrder,
    hidden: ReadonlySet<string>,
  ): Promise<Group[]> {
    const limit = this.env.SCIM_SCAN_LIMIT;
    const total = await this.searcher.count(conditions);
    if (total > limit) throw createLimitError(limit);
    const isMatch = buildMatcher(rest);
    const needsMembers = usesAttribute(rest, 'members');
    const found: Group[] = [];
    let seen = 0;
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const page = { after, offset: 0, limit: BATCH_SIZE };
      const { rows, last }: KeysetPage<Group> = await this.searcher.readPage(conditions, order, page, total);
      for (const group of rows) {
        const members = needsMembers ? await this.members.listMembers(group.uuid, undefined, limit) : [];
        seen += members.length;
        if (seen > limit) throw createLimitError(limit);
        if (isMatch(this.toResource(group, members, hidden))) found.push(group);
      }
      after = last && createPositionGetter(order)(last);
    }
    return found;
  }

  /** Reads the members of the groups. Stops after `MAX_PAGE_MEMBERS` members and omits the remaining groups. */
  private async readMembers(groups: readonly Group[]): Promise<{ group: Group; members: string[] }[]> {
    const found: { group: Group; members: string[] }[] = [];
    let count = 0;
    for (let from = 0; from < groups.length && count < MAX_PAGE_MEMBERS; from += READ_TOGETHER) {
      const part = groups.slice(from, from + READ_TOGETHER);
      const ids = part.map(({ uuid }) => uuid);
      const lists = await this.members.listMembersByGroup(ids, MAX_PAGE_MEMBERS);
      for (const group of part) {
        if (count >= MAX_PAGE_MEMBERS) break;
        const members = lists ? (lists.get(group.uuid) ?? []) : await this.members.listMembers(group.uuid);
        found.push({ group, members });
        count += members.length;
      }
    }
    return found;
  }
}

const SORTS: Readonly<Record<string, GroupSort>> = {
  id: 'uuid',
  externalId: 'external_id',
  displayName: 'display_name',
  'meta.created': 'created',
  'meta.lastModified': 'updated',
};

/** Returns the order of a list. By default, and for attributes that cannot be sorted, this is the order of creation. */
function toGroupOrder({ sortBy, descending }: ListQuery): GroupOrder {
  const sort = sortBy && SORTS[(sortBy.sub ?? sortBy.attribute).path];
  return createGroupOrder(sort ?? 'created', descending ? 'desc' : 'asc');
}

const createLimitError = (limit: number): ProblemError =>
  new ProblemError(
    'too_many',
    `The filter would check more than ${limit} groups or members. Add a condition with eq or sw on displayName, ` +
      'externalId or id, with eq on members.value, or on meta.created or meta.lastModified.',
  );
