import { Injectable } from '@nestjs/common';
import { ProblemError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { Resources } from '../discovery/resources.js';
import { matcher } from '../protocol/filter-match.js';
import type { Filter } from '../protocol/filter.js';
import type { ListQuery } from '../protocol/list.js';
import type { Clause } from '../../users/search/search-plan.js';
import { decodeGroupCursor, encodeGroupCursor } from '../../groups/group-cursor.js';
import { planGroupFilter } from './group-filter-plan.js';
import {
  type GroupOrder,
  type GroupPosition,
  GroupSearch,
  type GroupSort,
  comparePositions,
  positionOf,
} from '../../groups/group-search.service.js';
import { toGroupResource } from './group.mapping.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { Group } from '../../groups/group.js';

/** Groups of a page, in their order, before their members are read. */
export interface FoundGroups {
  groups: readonly Group[];
  total: number;
  /** Whether more follow behind the last one. */
  more: boolean;
  /** The cursor behind one of them. */
  cursorBehind: (group: Group) => string;
}

const AT_ONCE = 500;

/** Which groups a SCIM list has (scim.md, sections 7 and 8): by index where it can be, else decided one by one. */
@Injectable()
export class ScimGroupSearch {
  constructor(
    private readonly searcher: GroupSearch,
    private readonly members: GroupMembers,
    private readonly resources: Resources,
    private readonly env: Env,
  ) {}

  /** @throws ProblemError `invalid_cursor`; `too_many` where no index answers the filter. */
  async find(query: ListQuery, hidden: ReadonlySet<string> = new Set()): Promise<FoundGroups> {
    const { filter, cursor, fingerprint, startIndex, count } = query;
    const order = orderOf(query);
    const after = cursor ? decodeGroupCursor(cursor, order, fingerprint) : undefined;
    if (cursor && !after)
      throw new ProblemError('invalid_cursor', 'cursor must be the nextCursor of a page of this list.');
    const { conditions, rest } = planGroupFilter(filter, hidden);
    const offset = cursor === undefined ? startIndex - 1 : 0;
    const cursorBehind = (group: Group) => encodeGroupCursor(positionOf(group, order), order, fingerprint);
    if (rest) {
      const all = await this.decided(conditions, rest, order, hidden);
      const from = after
        ? all.filter((group) => comparePositions(positionOf(group, order), after, order) > 0)
        : all.slice(offset);
      const more = from.length > count;
      return { groups: from.slice(0, count), total: all.length, more, cursorBehind };
    }
    const total = await this.searcher.count(conditions);
    const page = { conditions, total, ...order, offset, limit: count, after };
    const isEmpty = count === 0 || offset >= total;
    const { groups, more } = isEmpty ? { groups: [], more: false } : await this.searcher.page(page);
    return { groups, total, more, cursorBehind };
  }

  /** All groups that meet the conditions and the rest of a filter. */
  private async decided(
    conditions: readonly Clause[],
    rest: Filter,
    order: GroupOrder,
    hidden: ReadonlySet<string>,
  ): Promise<Group[]> {
    const limit = this.env.SCIM_SCAN_LIMIT;
    const total = await this.searcher.count(conditions);
    if (total > limit) throw tooMany(limit);
    const isMatch = matcher(rest);
    const needsMembers = mentionsMembers(rest);
    const found: Group[] = [];
    let seen = 0;
    for (let after: GroupPosition | undefined, more = true; more;) {
      const page = await this.searcher.page({
        conditions,
        total,
        ...order,
        offset: 0,
        limit: AT_ONCE,
        after,
      });
      for (const group of page.groups) {
        const members = needsMembers ? await this.members.all(group.uuid, undefined, limit) : [];
        seen += members.length;
        if (seen > limit) throw tooMany(limit);
        const shown = members.filter((uuid) => !hidden.has(uuid));
        if (isMatch(toGroupResource(group, shown, this.resources.base))) found.push(group);
      }
      const last = page.groups.at(-1);
      more = page.more && last !== undefined;
      after = last && positionOf(last, order);
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

/** What no index sorts is the same in all groups, or has no order: those are in the order in which they were made. */
function orderOf({ sortBy, descending }: ListQuery): GroupOrder {
  const sort = sortBy && SORTS[(sortBy.sub ?? sortBy.attribute).path];
  return { sort: sort ?? 'created', order: descending ? 'desc' : 'asc' };
}

function mentionsMembers(filter: Filter): boolean {
  if (filter.kind === 'none') return false;
  if (filter.kind === 'compare' || filter.kind === 'present') return filter.path.attribute.name === 'members';
  if (filter.kind === 'element') return filter.attribute.name === 'members';
  return filter.kind === 'not' ? mentionsMembers(filter.filter) : filter.filters.some(mentionsMembers);
}

const tooMany = (limit: number): ProblemError =>
  new ProblemError(
    'too_many',
    `More than ${limit} groups or members would have to be looked at. Add a condition with eq or sw on displayName, ` +
      'externalId or id, with eq on members.value, or on meta.created or meta.lastModified.',
  );
