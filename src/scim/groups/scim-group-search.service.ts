import { Injectable } from '@nestjs/common';
import { ProblemError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { Resources } from '../discovery/resources.js';
import { matcher } from '../protocol/filter-match.js';
import type { Filter } from '../protocol/filter.js';
import type { ListQuery } from '../protocol/list.js';
import type { Clause } from '../../platform/database/engine/sql.js';
import {
  type Page,
  type Position,
  decodeCursor,
  encodeCursor,
  sortPage,
} from '../../platform/database/keyset-pages.js';
import { looksAt } from '../users/filter-plan.js';
import { planGroupFilter } from './group-filter-plan.js';
import {
  type GroupOrder,
  GroupSearch,
  type GroupSort,
  groupOrder,
  positionIn,
} from '../../groups/group-search.service.js';
import { toGroupResource } from './group.mapping.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { Group } from '../../groups/group.js';

/** Groups of a page, in their order, before their members are read. */
export interface FoundGroups extends Page<Group> {
  total: number;
  /** The cursor after one of them. */
  cursorAfter: (group: Group) => string;
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
    const list = [fingerprint, order.sort, order.order];
    const after = cursor ? decodeCursor(cursor, list, order.ranges) : undefined;
    if (cursor && !after)
      throw new ProblemError('invalid_cursor', 'cursor must be the nextCursor of a page of this list.');
    const { conditions, rest } = planGroupFilter(filter, hidden);
    const place = { after, offset: cursor === undefined ? startIndex - 1 : 0, limit: count };
    const cursorAfter = (group: Group) => encodeCursor(list, order.ranges, positionIn(order)(group));
    if (rest) {
      const all = await this.decided(conditions, rest, order, hidden);
      const page = sortPage(all, positionIn(order), order.order, place);
      return { ...page, total: all.length, cursorAfter };
    }
    const total = await this.searcher.count(conditions);
    return { ...(await this.searcher.page(conditions, order, place, total)), total, cursorAfter };
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
    const needsMembers = looksAt(rest, 'members');
    const found: Group[] = [];
    let seen = 0;
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const place = { after, offset: 0, limit: AT_ONCE };
      const { rows, last }: Page<Group> = await this.searcher.page(conditions, order, place, total);
      for (const group of rows) {
        const members = needsMembers ? await this.members.all(group.uuid, undefined, limit) : [];
        seen += members.length;
        if (seen > limit) throw tooMany(limit);
        const shown = members.filter((uuid) => !hidden.has(uuid));
        if (isMatch(toGroupResource(group, shown, this.resources.base))) found.push(group);
      }
      after = last && positionIn(order)(last);
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
  return groupOrder(sort ?? 'created', descending ? 'desc' : 'asc');
}

const tooMany = (limit: number): ProblemError =>
  new ProblemError(
    'too_many',
    `More than ${limit} groups or members would have to be looked at. Add a condition with eq or sw on displayName, ` +
      'externalId or id, with eq on members.value, or on meta.created or meta.lastModified.',
  );
