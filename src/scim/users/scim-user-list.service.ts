import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { SearchBudget } from '../../users/search/search-budget.service.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import type { User } from '../../users/model/user.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/json.js';
import { type ListQuery, listResponse, readListQuery } from '../protocol/list.js';
import { type FilterPlan, planOf } from './filter-plan.js';
import { type ListCursor, decodeCursor, encodeCursor } from './list-cursor.js';
import { OPERATORS, type Scope, ScimUserRepository } from './scim-user.repository.js';
import { ScimUserView } from './scim-user-view.service.js';
import { type ListOrder, BY_CREATION, indexOrder } from './user-order.js';
import { UserPages } from './user-pages.service.js';
import { type Match, UserScan, comparing } from './user-scan.service.js';
import { hidesOperators } from './visibility.js';

/** The query of a list, or the body of `.search`, by the names of RFC 7644; none of them has been read yet. */
export interface ListParameters extends Readonly<Record<string, unknown>> {
  attributes?: unknown;
}

/** The users of a page. */
interface Page {
  users: readonly User[];
  /** Undefined where it would cost more than the page. */
  total: number | undefined;
  next: ListCursor | undefined;
}

/** A list as it was asked for. */
interface Asked {
  query: ListQuery;
  plan: FilterPlan;
  scope: Scope;
  /** undefined where no index sorts so. */
  order: ListOrder | undefined;
  cursor: ListCursor | undefined;
  hidesOperators: boolean;
}

/** Users that a page may pass over in this thread. */
const PASSED_OVER = 10_000;
/** Below this share of all users, looking the matches up costs less than walking an index that may have them last. */
const FEW = 1 / 10;
const HANDFUL = 500;
/** Matches that a page of a walk counts. */
const COUNTED = 10_000;

/** Lists of users: filters, orders, pages by index and by cursor (scim.md, sections 7 and 8). */
@Injectable()
export class ScimUserList {
  constructor(
    private readonly repository: ScimUserRepository,
    private readonly pages: UserPages,
    private readonly scan: UserScan,
    private readonly view: ScimUserView,
    private readonly resources: Resources,
    private readonly counts: UserCounts,
    private readonly settings: UserSettings,
    private readonly budget: SearchBudget,
  ) {}

  /**
   * @param departure makes a signal that aborts when the client has left.
   * @throws ProblemError as `readListQuery`; `too_many`, `invalid_cursor`; what `SearchBudget.run` throws.
   */
  async list(parameters: ListParameters, actor: Actor, departure: () => AbortSignal): Promise<ScimObject> {
    const query = readListQuery(parameters, this.resources.user);
    const { users, total, next } = await this.page(query, actor, departure);
    return listResponse({
      resources: await this.view.all(users, query.projection),
      ...(total !== undefined && { totalResults: total }),
      ...(query.cursor === undefined && { startIndex: query.startIndex }),
      ...(next && { nextCursor: encodeCursor(next, query) }),
    });
  }

  /** The users of a page. */
  async page(query: ListQuery, actor: Actor, departure: () => AbortSignal): Promise<Page> {
    const asked = this.asked(query, actor);
    const work = async (signal?: AbortSignal): Promise<Page> => {
      const order = await this.indexOf(asked, signal);
      return order ? this.indexed(asked, order, signal) : this.scanned(asked, signal);
    };
    if (!isBroad(asked)) return work();
    return this.budget.run(actor, departure(), {
      run: work,
      broadest: async () => (asked.plan.source ? 'filter' : 'startIndex'),
    });
  }

  private asked(query: ListQuery, actor: Actor): Asked {
    const plan = planOf(query.filter, this.settings.roles);
    const hides = hidesOperators(actor);
    const tests = [...plan.tests, ...(hides ? [{ ...OPERATORS, sql: `NOT ${OPERATORS.sql}` }] : [])];
    return {
      query,
      plan,
      scope: { source: plan.source, tests },
      order: query.sortBy ? indexOrder(query.sortBy, query.descending) : BY_CREATION,
      cursor: query.cursor === undefined ? undefined : decodeCursor(query.cursor, query),
      hidesOperators: hides,
    };
  }

  /** The order in which the database finds, sorts and cuts; undefined where users must be looked at. */
  private async indexOf({ plan, order, scope }: Asked, signal?: AbortSignal): Promise<ListOrder | undefined> {
    if (!plan.isExact) return undefined;
    if (!order?.byLookUp || !plan.source) return order;
    const matching = await this.repository.countUpTo(scope, this.scan.limit + 1, signal);
    return matching > this.scan.limit ? order : undefined;
  }

  /** The database finds, sorts and cuts. */
  private async indexed(asked: Asked, order: ListOrder, signal: AbortSignal | undefined): Promise<Page> {
    const { query, scope, plan } = asked;
    const offset = query.cursor === undefined ? query.startIndex - 1 : 0;
    const countsItself = isPageOfKey(asked);
    const total = countsItself ? undefined : await this.total(asked, signal);
    if (query.count === 0 || (total !== undefined && offset >= total))
      return { users: [], total, next: undefined };
    const few = !order.byLookUp && (await this.areFew(plan, total));
    const place = { cursor: asked.cursor, offset, count: query.count };
    const found = await this.pages.read(scope, few, order, place, signal);
    const users = found.slice(0, query.count);
    const last = found.length > query.count ? users.at(-1) : undefined;
    const next = last && { segment: last.segment, key: last.key, uuid: last.user.uuid };
    return {
      users: users.map(({ user }) => user),
      total: countsItself ? (last ? await this.total(asked, signal) : found.length) : total,
      next: query.cursor === undefined ? undefined : next,
    };
  }

  /**
   * How many match. Without a filter, or by status alone, counters know; a page of a walk counts up to a bound, so that it costs
   * the same however many there are.
   */
  private async total(
    { plan, scope, query, hidesOperators: hides }: Asked,
    signal: AbortSignal | undefined,
  ): Promise<number | undefined> {
    const statuses = plan.status
      ? [plan.status]
      : plan.tests.length === 0
        ? ['Active', 'Blocked']
        : undefined;
    if (statuses) {
      const { matching } = await this.counts.users(statuses);
      return hides ? matching - (await this.repository.countOperators(plan.status)) : matching;
    }
    if (query.cursor === undefined) return this.repository.count(scope, signal);
    const count = await this.repository.countUpTo(scope, COUNTED, signal);
    return count < COUNTED ? count : undefined;
  }

  private async areFew({ source, breadth }: FilterPlan, total: number | undefined): Promise<boolean> {
    if (!source) return false;
    if (breadth === 'one') return true;
    if (total === undefined) return false;
    if (total <= HANDFUL) return true;
    return total < FEW * (await this.counts.users([])).all;
  }

  /** Users are looked at one by one, up to a bound. */
  private async scanned(
    { query, scope, plan, cursor }: Asked,
    signal: AbortSignal | undefined,
  ): Promise<Page> {
    const sort = query.sortBy && { by: query.sortBy, descending: query.descending };
    const matches = await this.scan.matches(scope, plan.isExact ? undefined : query.filter, sort, signal);
    const compare = comparing(query.descending);
    const isBehind = (match: Match): boolean => cursor !== undefined && compare(match, cursor) > 0;
    const start =
      query.cursor === undefined ? query.startIndex - 1 : cursor ? matches.findIndex(isBehind) : 0;
    const page = start < 0 ? [] : matches.slice(start, start + query.count);
    const uuids = page.map(({ uuid }) => uuid);
    const last = start >= 0 && start + query.count < matches.length ? page.at(-1) : undefined;
    return {
      users: await this.scan.usersOf(uuids),
      total: matches.length,
      next: query.cursor !== undefined && last ? { segment: 0, ...last } : undefined,
    };
  }
}

/** The first page of what a key finds has nearly always all of it, so that nothing need be counted. */
function isPageOfKey({ query, plan }: Asked): boolean {
  return plan.breadth === 'one' && query.cursor === undefined && query.startIndex === 1 && query.count > 0;
}

/** Whether the cost of a list is not bounded by an index, so that it runs beside the thread that answers. */
function isBroad({ plan, query, order }: Asked): boolean {
  if (plan.breadth === 'one') return false;
  if (plan.source || !plan.isExact || !order || order.byLookUp) return true;
  return query.cursor === undefined && query.startIndex > PASSED_OVER;
}
