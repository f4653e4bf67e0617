import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { ProblemError } from '../../platform/common/errors.js';
import { type Cursor, decodeCursor, encodeCursor, foreignCursor } from './cursor.js';
import { toFilter } from './filter.js';
import type { User } from '../model/user.js';
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  type Order,
  type Sort,
  type UserQuery,
  effectiveSort,
} from './user.query.js';
import { type Filter, type Form, rangesOf } from './search-plan.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { SearchBudget } from './search-budget.service.js';
import { type Hit, UserSearchRepository } from './user-search.repository.js';
import { UserSettings } from '../rules/user-settings.js';

export interface UserPage {
  count: number;
  users: User[];
  /** Cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** A hit with the number of its range. */
type Found = Hit & { segment: number };

/** Up to this many matches are looked up and sorted without asking how many users there are. */
const HANDFUL = 500;
/** Below this share of all users, looking the matches up costs less than walking an index that may have them last. */
const FEW = 1 / 10;

/** Users that a page may pass over in this thread, because they come before it or have another status. */
const PASSED_OVER = 10_000;

/** What is known of a search before its page is read. */
interface Survey {
  count: number;
  form: Form;
}

interface PageOrder {
  sort: Sort;
  order: Order;
  limit: number;
  offset: number;
  cursor: Cursor | undefined;
}

/** A search as it was asked for. */
interface Search extends PageOrder {
  filter: Filter;
}

/** Users by status, where nothing else is asked. */
type Totals = Awaited<ReturnType<UserCounts['users']>> | undefined;

/** `GET /users/search` (interface §5). */
@Injectable()
export class UserSearch {
  constructor(
    private readonly repository: UserSearchRepository,
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
    const { filter, offset } = search;
    const totals = filter.countedStatuses && (await this.counts.users(filter.countedStatuses));
    const broad = totals
      ? offset + totals.all - totals.matching > PASSED_OVER
      : await this.repository.isBroad(filter);
    if (!broad) return this.page(search, totals);
    return this.budget.run(actor, departure(), {
      run: (signal) => this.page(search, totals, signal),
      broadest: async (signal) => (await this.repository.broadest(filter, signal)) ?? 'offset',
    });
  }

  private toSearch(query: UserQuery, actor: Actor): Search {
    const filter = toFilter(query, actor, this.settings.roles);
    const order = query.order ?? 'desc';
    const sort = effectiveSort(query);
    const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const cursor = query.after === undefined ? undefined : decodeCursor(query.after, sort, order);
    if (cursor && query.offset !== undefined) {
      throw new ProblemError('invalid_parameter', 'offset and after exclude each other.');
    }
    return { filter, sort, order, limit, offset: query.offset ?? 0, cursor };
  }

  private async page(search: Search, totals: Totals, signal?: AbortSignal): Promise<UserPage> {
    const { sort, order, limit, offset, cursor } = search;
    const { count, form } = await this.survey(search.filter, totals, signal);
    if (!cursor && offset >= count) return { count, users: [], next: undefined };
    const found = await this.read({ ...search, limit: limit + 1 }, form, signal);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last && { sort, order, segment: last.segment, key: last.key, uuid: last.user.uuid };
    return { count, users: page.map(({ user }) => user), next: next && encodeCursor(next) };
  }

  /** Counts the matches before their page is read. Without a filter, the totals have the number. */
  private async survey(filter: Filter, totals: Totals, signal: AbortSignal | undefined): Promise<Survey> {
    const count = totals ? totals.matching : await this.repository.count(filter, signal);
    if (!totals && count <= HANDFUL) return { count, form: 'few' };
    const { all } = totals ?? (await this.counts.users([]));
    return { count, form: count < FEW * all ? 'few' : 'many' };
  }

  /** Reads the ranges of the order until the page is full. */
  private async read(
    { filter, ...page }: Search,
    form: Form,
    signal: AbortSignal | undefined,
  ): Promise<Found[]> {
    const found: Found[] = [];
    const { order } = page;
    let { offset } = page;
    const ranges = rangesOf(page.sort, order, filter.score, form);
    if (page.cursor && page.cursor.segment >= ranges.length) throw foreignCursor();
    for (const [index, range] of ranges.entries()) {
      if (index < (page.cursor?.segment ?? 0)) continue;
      const after = page.cursor?.segment === index ? page.cursor : undefined;
      for (const part of this.repository.parts(range, order, after)) {
        const limit = page.limit - found.length;
        const place = { form, key: range.key, order, part, offset, limit, signal };
        const hits = await this.repository.page(filter, place);
        for (const { key, user } of hits) found.push({ key, user, segment: index });
        if (found.length === page.limit) return found;
        if (offset > 0)
          offset = hits.length > 0 ? 0 : offset - (await this.repository.count(filter, signal, part));
      }
    }
    return found;
  }
}
