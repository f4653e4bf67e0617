import { Injectable } from '@nestjs/common';
import { type Clause, partsOf } from '../../users/search/search-plan.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';
import type { Test } from './keyed-values.js';
import type { ListCursor } from './list-cursor.js';
import { type Hit, type Scope, ScimUserRepository } from './scim-user.repository.js';
import { type ListOrder, type ListRange, ofFew } from './user-order.js';

/** A hit with the number of its range. */
export type Found = Hit & { segment: number };

/** Where a page begins, and how many users it has at most. */
interface Place {
  cursor: ListCursor | undefined;
  /** Users before the page, counted from the cursor. */
  offset: number;
  count: number;
}

/** Pages in an order that an index gives. */
@Injectable()
export class UserPages {
  constructor(
    private readonly repository: ScimUserRepository,
    private readonly counts: UserCounts,
  ) {}

  /**
   * Reads the ranges of the order until the page is full, and one user more.
   * @param few whether the source of the scope finds the users, rather than a walk in the order of the page.
   */
  async read(
    scope: Scope,
    few: boolean,
    { order, ranges }: ListOrder,
    { cursor: sent, offset: first, count }: Place,
    signal: AbortSignal | undefined,
  ): Promise<Found[]> {
    const cursor = sent && { ...sent, segment: segmentOf(sent, ranges) };
    const found: Found[] = [];
    let offset = first;
    for (const [segment, wide] of ranges.entries()) {
      if ((cursor && segment < cursor.segment) || (await this.isEmpty(wide, signal))) continue;
      const range: ListRange = few ? ofFew(wide) : wide;
      const within: Scope = few
        ? scope
        : { ...range.within, source: undefined, tests: inOrder(scope, range) };
      const after = cursor?.segment === segment ? cursor : undefined;
      for (const part of this.parts(range, order, after)) {
        const limit = count + 1 - found.length;
        const place = { key: range.key, tie: range.tie, order, part, offset, limit };
        const hits = await this.repository.page(within, place, signal);
        for (const hit of hits) found.push({ ...hit, segment });
        if (found.length > count) return found;
        if (offset > 0) offset = hits.length > 0 ? 0 : offset - (await this.passed(within, part, signal));
      }
    }
    return found;
  }

  /** Whether everybody has a value, so that nobody need be looked for who has none. */
  private async isEmpty({ within }: ListRange, signal: AbortSignal | undefined): Promise<boolean> {
    if (within?.without === undefined) return false;
    return (await this.repository.countValues(within.without, signal)) >= (await this.counts.users([])).all;
  }

  private parts(range: ListRange, order: 'asc' | 'desc', after: ListCursor | undefined): Clause[] {
    const parts = partsOf(range, order, after, this.repository.dialect);
    if (!after || range.test === undefined) return parts;
    // Descending, users without a value would follow those with one, who have had their range before.
    const set = `${range.key} ${range.test}`;
    return parts.map(({ sql, params }) => ({ sql: `${sql} AND ${set}`, params }));
  }

  private passed(scope: Scope, part: Clause, signal: AbortSignal | undefined): Promise<number> {
    return this.repository.count({ ...scope, tests: [...scope.tests, part] }, signal);
  }
}

/** A list whose users were looked at until there were too many has cursors without ranges. */
function segmentOf({ segment, key }: ListCursor, ranges: readonly ListRange[]): number {
  const unset = ranges.findIndex(({ only }) => only === null);
  if (key === null) return unset === -1 ? segment : unset;
  return unset === 0 ? 1 : segment;
}

/** A test of the column by which a page is sorted bounds its index. */
const inOrder = ({ tests }: Scope, { key }: ListRange): Test[] =>
  tests.map((test) => (test.inOrder?.key === key ? { sql: test.inOrder.sql, params: test.params } : test));
