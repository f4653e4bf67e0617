import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { ProblemError } from '../../common/errors.js';
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
import { UserCounts } from '../counts/user-counts.service.js';
import { type Hit, UserSearchRepository } from './user-search.repository.js';
import { UserSettings } from '../input/user-settings.js';

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
  /** Whether the page may take longer than this thread has. */
  aside: boolean;
}

interface PageOrder extends Omit<Survey, 'count'> {
  sort: Sort;
  order: Order;
  limit: number;
  offset: number;
  cursor: Cursor | undefined;
}

/** `GET /users/search` (interface §5). */
@Injectable()
export class UserSearch {
  constructor(
    private readonly repository: UserSearchRepository,
    private readonly counts: UserCounts,
    private readonly settings: UserSettings,
  ) {}

  /** @throws ProblemError `invalid_parameter`, `forbidden`. */
  async search(query: UserQuery, actor: Actor): Promise<UserPage> {
    const filter = toFilter(query, actor, this.settings.roles);
    const order = query.order ?? 'desc';
    const sort = effectiveSort(query);
    const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const cursor = query.after === undefined ? undefined : decodeCursor(query.after, sort, order);
    if (cursor && query.offset !== undefined) {
      throw new ProblemError('invalid_parameter', 'offset and after exclude each other.');
    }
    const offset = query.offset ?? 0;
    const { count, form, aside } = await this.survey(filter, offset);
    if (!cursor && offset >= count) return { count, users: [], next: undefined };
    const found = await this.read(filter, { form, aside, sort, order, limit: limit + 1, offset, cursor });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last && { sort, order, segment: last.segment, key: last.key, uuid: last.user.uuid };
    return { count, users: page.map(({ user }) => user), next: next && encodeCursor(next) };
  }

  /** Counts the matches before their page is read. Without a filter, the totals have the number. */
  private async survey(filter: Filter, offset: number): Promise<Survey> {
    const { countedStatuses } = filter;
    const broad = await this.repository.isBroad(filter);
    const counted = countedStatuses ? undefined : await this.repository.count(filter, broad);
    if (counted !== undefined && counted <= HANDFUL) return { count: counted, form: 'few', aside: broad };
    const { matching, all } = await this.counts.users(countedStatuses ?? []);
    const count = counted ?? matching;
    const form = count < FEW * all ? 'few' : 'many';
    const others = countedStatuses ? all - count : 0;
    return { count, form, aside: broad || offset + others > PASSED_OVER };
  }

  /** Reads the ranges of the order until the page is full. */
  private async read(filter: Filter, page: PageOrder): Promise<Found[]> {
    const found: Found[] = [];
    let offset = page.offset;
    const ranges = rangesOf(page.sort, page.order, filter.score, page.form);
    if (page.cursor && page.cursor.segment >= ranges.length) throw foreignCursor();
    for (const [index, range] of ranges.entries()) {
      if (index < (page.cursor?.segment ?? 0)) continue;
      const after = page.cursor?.segment === index ? page.cursor : undefined;
      for (const part of this.repository.parts(range, page.order, after)) {
        const limit = page.limit - found.length;
        const hits = await this.repository.page(filter, { ...page, key: range.key, part, offset, limit });
        for (const { key, user } of hits) found.push({ key, user, segment: index });
        if (found.length === page.limit) return found;
        if (offset > 0)
          offset = hits.length > 0 ? 0 : offset - (await this.repository.count(filter, page.aside, part));
      }
    }
    return found;
  }
}
