import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { ProblemError } from '../common/errors.js';
import { type Cursor, decodeCursor, encodeCursor, foreignCursor } from './user.cursor.js';
import { toFilter } from './user.filter.js';
import type { User } from './user.model.js';
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  type Order,
  type Sort,
  type UserQuery,
  effectiveSort,
} from './user.query.js';
import { type Filter, type Form, segmentsOf } from './user.search-plan.js';
import { type Counters, type Hit, UserSearchRepository } from './user-search.repository.js';
import { UserSettings } from './user.settings.js';
import { UserWalks } from './user.walks.js';

export interface UserPage {
  count: number;
  users: User[];
  /** Place of the next page; undefined on the last one. */
  next: string | undefined;
}

/** A hit and the stretch of the order in which it stands. */
type Found = Hit & { segment: number };

interface PageOrder {
  form: Form;
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
    private readonly walks: UserWalks,
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
    const counters = await this.repository.counters();
    const count = await this.count(filter, counters);
    const offset = query.offset ?? 0;
    const form = isFew(count, counters) ? 'few' : 'many';
    if (!cursor && offset >= count) return { count, users: [], next: undefined };
    const walk = JSON.stringify([filter, sort, order]);
    const changes = counters.get('changes') ?? 0;
    const place = cursor ? undefined : this.walks.find(walk, changes, offset);
    const found = await this.read(filter, {
      form,
      sort,
      order,
      limit: limit + 1,
      offset: offset - (place?.offset ?? 0),
      cursor: cursor ?? place?.cursor,
    });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last && { sort, order, segment: last.segment, key: last.key, uuid: last.user.uuid };
    if (next && !cursor) this.walks.note(walk, changes, { offset: offset + page.length, cursor: next });
    return { count, users: page.map(({ user }) => user), next: next && encodeCursor(next) };
  }

  /** Without a filter the counters know it. */
  private async count({ countedStatuses, ...filter }: Filter, counters: Counters): Promise<number> {
    if (!countedStatuses) return this.repository.count(filter);
    return countedStatuses.reduce((sum, status) => sum + (counters.get(status) ?? 0), 0);
  }

  /** Walks the stretches of the order until the page is full. */
  private async read(filter: Filter, page: PageOrder): Promise<Found[]> {
    const found: Found[] = [];
    let offset = page.offset;
    const segments = segmentsOf(page.sort, page.order, filter.score, page.form);
    if (page.cursor && page.cursor.segment >= segments.length) throw foreignCursor();
    for (const [index, segment] of segments.entries()) {
      if (index < (page.cursor?.segment ?? 0)) continue;
      const after = page.cursor?.segment === index ? page.cursor : undefined;
      for (const part of this.repository.parts(segment, page.order, after)) {
        const { form, order } = page;
        const limit = page.limit - found.length;
        const hits = await this.repository.page(filter, {
          form,
          key: segment.key,
          order,
          part,
          offset,
          limit,
        });
        found.push(...hits.map((hit) => ({ ...hit, segment: index })));
        if (found.length === page.limit) return found;
        if (offset > 0) offset = hits.length > 0 ? 0 : offset - (await this.repository.count(filter, part));
      }
    }
    return found;
  }
}

/** Fewer than this share of all users: below it, looking them up costs less than a walk that may meet them last. */
const FEW = 1 / 10;

function isFew(count: number, counters: Counters): boolean {
  return count < FEW * ((counters.get('Active') ?? 0) + (counters.get('Blocked') ?? 0));
}
