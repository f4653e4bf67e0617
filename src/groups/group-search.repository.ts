import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type Clause, type Position, type Range, partsOf, where } from '../users/search/search-plan.js';
import type { Order } from '../users/search/user.query.js';
import { GROUP_COLUMNS } from './group.repository.js';
import { type Group, type GroupRow, toGroup } from './group.js';

/** A part of a page in one statement. */
export interface GroupPart {
  conditions: readonly Clause[];
  range: Range;
  order: Order;
  part: Clause;
  offset: number;
  limit: number;
}

/** Hand-written SQL: conditions and orders that an index answers (ADR 0013). Conditions name the groups `u`. */
@Injectable()
export class GroupSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The parts of a range, from a position on, one after another. */
  parts(range: Range, order: Order, after: Position | undefined): Clause[] {
    return partsOf(range, order, after, this.database.dialect);
  }

  async page({ conditions, range, order, part, offset, limit }: GroupPart): Promise<Group[]> {
    const { sql, params } = where([...conditions, part]);
    const rows = await this.database.query<GroupRow>(
      `SELECT ${GROUP_COLUMNS} FROM user_groups u WHERE ${sql}
       ORDER BY ${orderOf(range, order)} LIMIT ? OFFSET ?`,
      [...params, limit, offset],
    );
    return rows.map(toGroup);
  }

  /** All groups that meet the conditions, in any order: for a handful. */
  async all(conditions: readonly Clause[]): Promise<Group[]> {
    const { sql, params } = where(conditions);
    const rows = await this.database.query<GroupRow>(
      `SELECT ${GROUP_COLUMNS} FROM user_groups u WHERE ${sql}`,
      params,
    );
    return rows.map(toGroup);
  }

  /** Number of groups that meet the conditions. */
  async count(conditions: readonly Clause[]): Promise<number> {
    const { sql, params } = where(conditions);
    const row = await this.database.first<{ n: number }>(
      `SELECT COUNT(*) AS n FROM user_groups u WHERE ${sql}`,
      params,
    );
    return row?.n ?? 0;
  }
}

/** By the key, then by uuid; by one of them where the other says nothing: MariaDB sorts by a unique index alone. */
function orderOf({ key, unique, only }: Range, order: Order): string {
  const columns = only !== undefined ? ['u.uuid'] : unique ? [key] : [key, 'u.uuid'];
  return columns.map((column) => `${column} ${order.toUpperCase()}`).join(', ');
}
