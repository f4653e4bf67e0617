import { Inject, Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Clause, countRows } from '../../platform/database/engine/sql.js';
import {
  type Direction,
  type PageOrder,
  type PageWindow,
  type Position,
  encodeCursor,
  parsePageWindow,
  readPages,
} from '../../platform/database/keyset-pages.js';
import type { User } from '../model/user.js';
import { UserSettings } from '../rules/user-settings.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { toUserFilter } from './filter.js';
import { SearchBudget } from './search-budget.service.js';
import { type UserFilter, getCostDriver, toUserSet, listBroadParts, buildUserOrder } from './search-plan.js';
import { type Hit, MAX_SKIPPED_USERS, NO_KEY, UserPages } from './user-pages.service.js';
import { type Sort, type UserConditions, type UserQuery, resolveSort } from './user.query.js';

export interface UserPage {
  count: number;
  users: User[];
  /** Cursor of the next page, undefined on the last page. */
  next: string | undefined;
}

interface Search {
  filter: UserFilter;
  sort: Sort;
  order: Direction;
  place: PageWindow;
}

/** The number of matching users and of all users. Undefined if a search has conditions other than the status. */
type Totals = Awaited<ReturnType<UserCounts['countUsers']>> | undefined;

const BY_UUID: PageOrder = { order: 'asc', ranges: [{ key: NO_KEY, only: null, unique: false }] };
/** Number of users that `readAll` reads together. */
const READ_AT_ONCE = 500;

/** Number of word matches above which a search is broad. */
const MAX_NARROW_MATCHES = 500;
/** Maximum number of matches to count for each word or condition. */
const MAX_COUNTED_MATCHES = 10_000;

/** Searches users for `GET /users/search` (interface §5). */
@Injectable()
export class UserSearch {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly pages: UserPages,
    private readonly counts: UserCounts,
    private readonly settings: UserSettings,
    private readonly budget: SearchBudget,
  ) {}

  /**
   * Searches users. A broad search needs a slot of `SearchBudget`.
   * @param getDisconnect returns a signal that aborts when the client disconnects.
   * @throws ProblemError `invalid_parameter`, `forbidden`, or an error of `SearchBudget.run`.
   */
  async search(query: UserQuery, actor: Actor, getDisconnect: () => AbortSignal): Promise<UserPage> {
    const filter = toUserFilter(query, actor, this.settings.roles);
    const { order = 'desc' } = query;
    const sort = resolveSort(query);
    const { ranges } = buildUserOrder(sort, order, filter.score, 'many');
    const place = parsePageWindow(query, [sort, order], ranges);
    const search = { filter, sort, order, place };
    const totals = filter.countedStatuses && (await this.counts.countUsers(filter.countedStatuses));
    const isBroad = totals
      ? place.offset + totals.all - totals.matching > MAX_SKIPPED_USERS
      : await this.isBroad(filter);
    if (!isBroad) return this.readPage(search, totals);
    return this.budget.run(actor, getDisconnect(), {
      run: (signal) => this.readPage(search, totals, signal),
      findBroadestPart: async (signal) => (await this.findBroadestPart(filter, signal)) ?? 'offset',
    });
  }

  /**
   * Returns all users that match the conditions, page by page, sorted by uuid.
   * @throws ProblemError `invalid_parameter`.
   */
  readAll(conditions: UserConditions, actor: Actor, signal: AbortSignal): AsyncGenerator<Hit[]> {
    const users = toUserSet(toUserFilter(conditions, actor, this.settings.roles), 'many');
    const read = async (after: Position | undefined) =>
      (await this.pages.read(() => users, BY_UUID, { after, offset: 0, limit: READ_AT_ONCE }, signal)).rows;
    return readPages<Hit, Position | undefined>(undefined, (hit) => hit, read);
  }

  private async readPage(
    { filter, sort, order, place }: Search,
    totals: Totals,
    signal?: AbortSignal,
  ): Promise<UserPage> {
    const count = totals ? totals.matching : await this.pages.count(filter, signal);
    if (!place.after && place.offset >= count) return { count, users: [], next: undefined };
    const form = (await this.pages.isLookUpFaster(count, totals?.all)) ? 'few' : 'many';
    const pageOrder = buildUserOrder(sort, order, filter.score, form);
    const users = toUserSet(filter, form);
    const { rows, last } = await this.pages.read(() => users, pageOrder, place, signal);
    const next = last && encodeCursor([sort, order], pageOrder.ranges, last);
    return { count, users: rows.map(({ user }) => user), next };
  }

  private async isBroad(filter: UserFilter): Promise<boolean> {
    const bound = getCostDriver(filter);
    if (bound === 'words') return (await this.countMatches(filter.words)) > MAX_NARROW_MATCHES;
    return bound === undefined;
  }

  /** Returns the name of the word or condition with the most matches, if any. */
  async findBroadestPart(filter: UserFilter, signal: AbortSignal): Promise<string | undefined> {
    const parts: { name: string; n: number }[] = [];
    for (const { name, sql, params } of listBroadParts(filter)) {
      const counting = `SELECT COUNT(*) AS n FROM (${sql} LIMIT ${MAX_COUNTED_MATCHES}) AS part`;
      const [row] = await this.database.scan<{ n: number }>(counting, params, signal);
      parts.push({ name, n: row?.n ?? 0 });
    }
    return parts.toSorted((one, other) => other.n - one.n)[0]?.name;
  }

  private async countMatches(words: readonly Clause[]): Promise<number> {
    const counts = words.map(
      ({ sql }, index) =>
        `(SELECT COUNT(*) FROM (SELECT 1 FROM ${sql} LIMIT ${MAX_NARROW_MATCHES + 1}) AS w${index})`,
    );
    const values = words.flatMap(({ params }) => params);
    return countRows(this.database, `SELECT ${counts.join(' + ')} AS n`, values);
  }
}
