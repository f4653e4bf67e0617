import { Injectable } from '@nestjs/common';
import { loginKey } from '../users/model/keys.js';
import type { Clause, Range } from '../users/search/search-plan.js';
import type { Order } from '../users/search/user.query.js';
import { compareCodePoints } from '../platform/common/text.js';
import { GroupSearchRepository } from './group-search.repository.js';
import type { Group } from './group.js';

export type GroupSort = 'uuid' | 'display_name' | 'external_id' | 'created' | 'updated';

export interface GroupOrder {
  sort: GroupSort;
  order: Order;
}

/** The place behind a group in an order. */
export interface GroupPosition {
  /** Which range of the order: groups without an external id are one of their own. */
  segment: number;
  key: string | null;
  uuid: string;
}

/** Conditions over `user_groups u`, all of which must hold, and the part of their order that is wanted. */
export interface GroupSearchRequest extends GroupOrder {
  conditions: readonly Clause[];
  /** How many groups meet them: a handful is found by the index of a condition, and sorted. */
  total: number;
  offset: number;
  limit: number;
  after?: GroupPosition | undefined;
}

export interface GroupPage {
  groups: Group[];
  /** Whether more groups follow. */
  more: boolean;
}

/** Pages of groups in any order that an index has: each costs its groups and its offset, behind a position nothing more. */
@Injectable()
export class GroupSearch {
  constructor(private readonly repository: GroupSearchRepository) {}

  async count(conditions: readonly Clause[]): Promise<number> {
    return this.repository.count(conditions);
  }

  async page(request: GroupSearchRequest): Promise<GroupPage> {
    const { limit, total, conditions } = request;
    if (conditions.length > 0 && total <= HANDFUL) return this.ofFew(request);
    const found = await this.read({ ...request, limit: limit + 1 });
    return { groups: found.slice(0, limit), more: found.length > limit };
  }

  /** No engine chooses well between the index of a condition and that of an order: a handful is sorted here. */
  private async ofFew({
    conditions,
    offset,
    limit,
    after,
    ...order
  }: GroupSearchRequest): Promise<GroupPage> {
    const groups = (await this.repository.all(conditions)).map((group) => ({
      group,
      place: positionOf(group, order),
    }));
    groups.sort((a, b) => comparePositions(a.place, b.place, order));
    const rest = after
      ? groups.filter(({ place }) => comparePositions(place, after, order) > 0)
      : groups.slice(offset);
    return { groups: rest.slice(0, limit).map(({ group }) => group), more: rest.length > limit };
  }

  /** Reads the ranges of the order until the page is full. */
  private async read({ conditions, after, sort, order, ...request }: GroupSearchRequest): Promise<Group[]> {
    const found: Group[] = [];
    let { offset } = request;
    for (const [segment, range] of rangesOf({ sort, order }).entries()) {
      if (after && segment < after.segment) continue;
      const position = after?.segment === segment ? after : undefined;
      for (const part of this.repository.parts(range, order, position)) {
        const limit = request.limit - found.length;
        if (limit === 0) return found;
        const groups = await this.repository.page({ conditions, range, order, part, offset, limit });
        found.push(...groups);
        if (offset > 0)
          offset = groups.length > 0 ? 0 : offset - (await this.repository.count([...conditions, part]));
      }
    }
    return found;
  }
}

/** The place behind a group in an order. */
export function positionOf(group: Group, { sort, order }: GroupOrder): GroupPosition {
  const key = keyOf(group, sort);
  const isApart = sort === 'external_id' && (key === null) === (order === 'asc');
  return { segment: isApart ? 1 : 0, key, uuid: group.uuid };
}

/** Negative where the first place comes first. */
export function comparePositions(a: GroupPosition, b: GroupPosition, { order }: GroupOrder): number {
  const bySegment = a.segment - b.segment;
  if (bySegment !== 0) return bySegment;
  const ascending =
    a.key === b.key ? compareCodePoints(a.uuid, b.uuid) : compareCodePoints(a.key ?? '', b.key ?? '');
  return order === 'asc' ? ascending : -ascending;
}

/** The key by which a group has its place in an order; null where it has none. */
function keyOf(group: Group, sort: GroupSort): string | null {
  if (sort === 'display_name') return loginKey(group.display_name);
  if (sort === 'external_id') return group.external_id === '' ? null : group.external_id;
  return group[sort];
}

const KEYS: Readonly<Record<GroupSort, string>> = {
  uuid: 'u.uuid',
  display_name: 'u.display_name_key',
  external_id: 'u.external_id',
  created: 'u.created',
  updated: 'u.updated',
};
const HANDFUL = 500;
const UNIQUE: readonly GroupSort[] = ['uuid', 'display_name', 'external_id'];

/** Groups without an external id come last, and first where the order is descending (RFC 7644, section 3.4.2.3). */
function rangesOf({ sort, order }: GroupOrder): Range[] {
  const range = { key: KEYS[sort], unique: UNIQUE.includes(sort) };
  if (sort !== 'external_id') return [range];
  const ranges = [
    { ...range, test: 'IS NOT NULL' },
    { ...range, only: null },
  ];
  return order === 'asc' ? ranges : ranges.toReversed();
}
