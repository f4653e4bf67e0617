import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type Clause, type SqlValue, countRows, buildWhere } from '../platform/database/engine/sql.js';
import {
  type Direction,
  type KeysetPage,
  type PageOrder,
  type PageWindow,
  type Position,
  type KeyRange,
  readPage,
  sortPage,
  splitByEmptyKey,
} from '../platform/database/keyset-pages.js';
import { toLoginKey } from '../users/model/comparison-keys.js';
import { type Group, type GroupRow, toGroup } from './group.js';
import { GROUP_COLUMNS } from './group.repository.js';

export type GroupSort = 'uuid' | 'display_name' | 'external_id' | 'created' | 'updated';

export interface GroupOrder extends PageOrder {
  sort: GroupSort;
}

/** Maximum number of groups that are sorted in memory. */
const MAX_SORTED_IN_MEMORY = 500;

/**
 * Reads pages of groups, in any order that has an index. Uses hand-written SQL (ADR 13). Conditions refer to the table
 * of groups as `u`.
 */
@Injectable()
export class GroupSearch {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async count(conditions: readonly Clause[]): Promise<number> {
    const { sql, params } = buildWhere(conditions);
    return countRows(this.database, `SELECT COUNT(*) AS n FROM user_groups u WHERE ${sql}`, params);
  }

  /** @param total number of groups that meet all conditions. */
  async readPage(
    conditions: readonly Clause[],
    order: GroupOrder,
    window: PageWindow,
    total: number,
  ): Promise<KeysetPage<Group>> {
    if (window.limit === 0 || window.offset >= total) return { rows: [], last: undefined };
    // Database engines choose badly between the indexes of a condition and of the sort order, so a small result is
    // sorted in memory.
    if (conditions.length > 0 && total <= MAX_SORTED_IN_MEMORY) {
      return sortPage(await this.select(conditions), createPositionGetter(order), order.order, window);
    }
    const source = {
      read: (range: KeyRange, part: Clause, offset: number, limit: number) => {
        const rows = ` ORDER BY ${sortColumnsOf(range, order)} LIMIT ? OFFSET ?`;
        return this.select([...conditions, part], rows, [limit, offset]);
      },
      count: (_: KeyRange, part: Clause) => this.count([...conditions, part]),
    };
    return readPage(source, order, window, this.database.dialect);
  }

  private async select(
    conditions: readonly Clause[],
    tail = '',
    values: readonly SqlValue[] = [],
  ): Promise<Group[]> {
    const { sql, params } = buildWhere(conditions);
    const text = `SELECT ${GROUP_COLUMNS} FROM user_groups u WHERE ${sql}${tail}`;
    return (await this.database.query<GroupRow>(text, [...params, ...values])).map(toGroup);
  }
}

/**
 * Returns the columns to sort by. Omits `uuid` after a unique key, because with `uuid` MariaDB does not use the index
 * of the key.
 */
function sortColumnsOf({ key, unique, only }: KeyRange, { order }: GroupOrder): string {
  const columns = only !== undefined ? ['u.uuid'] : unique ? [key] : [key, 'u.uuid'];
  return columns.map((column) => `${column} ${order.toUpperCase()}`).join(', ');
}

/** Returns a function that computes the position of a group in the sort order. */
export const createPositionGetter =
  ({ sort }: GroupOrder) =>
  (group: Group): Position => {
    const { uuid, display_name, external_id } = group;
    if (sort === 'display_name') return { key: toLoginKey(display_name), uuid };
    return { key: sort === 'external_id' && external_id === '' ? null : group[sort], uuid };
  };

/**
 * Creates the sort order of a list of groups. Groups without an external id come last if ascending, first if descending
 * (RFC 7644, section 3.4.2.3).
 */
export function createGroupOrder(sort: GroupSort, order: Direction): GroupOrder {
  const ranges = RANGES[sort];
  return { sort, order, ranges: order === 'asc' ? ranges : ranges.toReversed() };
}

const RANGES: Readonly<Record<GroupSort, readonly KeyRange[]>> = {
  uuid: [{ key: 'u.uuid', unique: true }],
  display_name: [{ key: 'u.display_name_key', unique: true }],
  external_id: splitByEmptyKey({ key: 'u.external_id', unique: true }, null),
  created: [{ key: 'u.created', holds: 'time', unique: false }],
  updated: [{ key: 'u.updated', holds: 'time', unique: false }],
};
