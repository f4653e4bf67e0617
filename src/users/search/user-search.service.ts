import { Inject, Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Clause, countRows } from '../../platform/database/engine/sql.js';
import { type Direction, type Place, encodeCursor, placeOf } from '../../platform/database/keyset-pages.js';
import type { User } from '../model/user.js';
import { UserSettings } from '../rules/user-settings.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { toFilter } from './filter.js';
import { SearchBudget } from './search-budget.service.js';
import { type Filter, boundOf, inForm, namedParts, orderOf } from './search-plan.js';
import { PASSED_OVER, UserPages } from './user-pages.service.js';
import { type Sort, type UserQuery, effectiveSort } from './user.query.js';

export interface UserPage {
  count: number;
  users: User[];
  /** Cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** A search as it was asked for. */
interface Search {
  filter: Filter;
  sort: Sort;
  order: Direction;
  place: Place;
}

/** Users by status, where nothing else is asked. */
type Totals = Awaited<ReturnType<UserCounts['users']>> | undefined;

/** Matches of words that are joined and sorted in this thread. */
const FEW_MATCHES = 500;
/** Matches of one part of a search that are counted to find the one with the most. */
const COUNTED_MATCHES = 10_000;

/** `GET /users/search` (interface §5). */
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
   * @param departure makes a signal that aborts when the client has left.
   * @throws ProblemError `invalid_parameter`, `forbidden`; what `SearchBudget.run` throws.
   */
  async search(query: UserQuery, actor: Actor, departure: () => AbortSignal): Promise<UserPage> {
    const search = this.toSearch(query, actor);
    const { filter, place } = search;
    const totals = filter.countedStatuses && (await this.counts.users(filter.countedStatuses));
    const broad = totals
      ? place.offset + totals.all - totals.matching > PASSED_OVER
      : await this.isBroad(filter);
    if (!broad) return this.page(search, totals);
    return this.budget.run(actor, departure(), {
      run: (signal) => this.page(search, totals, signal),
      broadest: async (signal) => (await this.broadest(filter, signal)) ?? 'offset',
    });
  }

  private toSearch(query: UserQuery, actor: Actor): Search {
    const filter = toFilter(query, actor, this.settings.roles);
    const { order = 'desc' } = query;
    const sort = effectiveSort(query);
    const { ranges } = orderOf(sort, order, filter.score, 'many');
    return { filter, sort, order, place: placeOf(query, [sort, order], ranges) };
  }

  /** Counts the matches before their page is read. Without a filter, the totals have the number. */
  private async page(
    { filter, sort, order, place }: Search,
    totals: Totals,
    signal?: AbortSignal,
  ): Promise<UserPage> {
    const count = totals ? totals.matching : await this.pages.count(filter, signal);
    if (!place.after && place.offset >= count) return { count, users: [], next: undefined };
    const form = (await this.pages.areFew(count, totals?.all)) ? 'few' : 'many';
    const pageOrder = orderOf(sort, order, filter.score, form);
    const users = inForm(filter, form);
    const { rows, last } = await this.pages.read(() => users, pageOrder, place, signal);
    const next = last && encodeCursor([sort, order], pageOrder.ranges, last);
    return { count, users: rows.map(({ user }) => user), next };
  }

  /** Whether no keys bound what a search costs. */
  private async isBroad(filter: Filter): Promise<boolean> {
    const bound = boundOf(filter);
    return bound === 'words' ? (await this.matches(filter.words)) > FEW_MATCHES : bound === undefined;
  }

  /** The name of the part of a search that has the most matches; undefined for a search without parts. */
  async broadest(filter: Filter, signal: AbortSignal): Promise<string | undefined> {
    const parts: { name: string; n: number }[] = [];
    for (const { name, sql, params } of namedParts(filter)) {
      const counting = `SELECT COUNT(*) AS n FROM (${sql} LIMIT ${COUNTED_MATCHES}) AS part`;
      const [row] = await this.database.aside<{ n: number }>(counting, params, signal);
      parts.push({ name, n: row?.n ?? 0 });
    }
    return parts.toSorted((one, other) => other.n - one.n)[0]?.name;
  }

  /** Rows that the words have together, counted up to a bound. */
  private async matches(words: readonly Clause[]): Promise<number> {
    const counts = words.map(
      ({ sql }, index) =>
        `(SELECT COUNT(*) FROM (SELECT 1 FROM ${sql} LIMIT ${FEW_MATCHES + 1}) AS w${index})`,
    );
    const values = words.flatMap(({ params }) => params);
    return countRows(this.database, `SELECT ${counts.join(' + ')} AS n`, values);
  }
}
