import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { WEBMASTER } from '../../access/roles.js';
import { ProblemError } from '../../platform/common/errors.js';
import { TimeSlice, toBatches } from '../../platform/common/time-slice.js';
import { Env } from '../../platform/config/env.js';
import {
  type Clause,
  toClause,
  type Sql,
  orderedJoinOperatorOf,
} from '../../platform/database/engine/sql.js';
import {
  type PageWindow,
  type Position,
  sortPage,
  type PageOrder,
  type KeyRange,
  splitByEmptyKey,
} from '../../platform/database/keyset-pages.js';
import type { User } from '../../users/model/user.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { SearchBudget } from '../../users/search/search-budget.service.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { MAX_SKIPPED_USERS, UserPages, type UserSet, NO_KEY } from '../../users/search/user-pages.service.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject, AttributePath } from '../protocol/attribute.js';
import { usesAttribute, buildMatcher } from '../protocol/filter.js';
import {
  type ListParameters,
  type ListQuery,
  type ResourcePage,
  decodeListCursor,
  encodeListCursor,
  buildListResponse,
  readListQuery,
  toSortKey,
} from '../protocol/list.js';
import { type FilterPlan, INDEXED_PATHS, type UserTest, planFilter } from './filter-plan.js';
import { ScimUsers } from './scim-users.service.js';
import { shouldHideOperators } from '../http/profile-rules.js';

type UserListPage = Omit<ResourcePage, 'resources'> & { users: readonly User[] };

interface Search {
  query: ListQuery;
  plan: FilterPlan;
  /** The users that can match the filter: users from `plan.source` who meet all `tests`. */
  set: UserSet & { tests: readonly UserTest[] };
  /** The order in which the database can read users. Undefined if no index has this order. */
  order: ListOrder | undefined;
  window: PageWindow;
  hidesOperators: boolean;
  /** Aborts when the client disconnects, or when the search exceeds its budget. Undefined for a search with an index. */
  signal?: AbortSignal | undefined;
}

/** Number of users that are read and evaluated at a time. One batch takes a few milliseconds. */
const BATCH_SIZE = 500;
/** Maximum number of matches that are counted for a page with a cursor. */
const MAX_COUNTED = 10_000;

/** A condition on `users u` that excludes local operators (Webmasters without an external id). */
const IS_NOT_OPERATOR = toClause(
  `NOT (u.external_id_key IS NULL AND EXISTS
    (SELECT 1 FROM user_roles h WHERE h.role = ? AND h.user_uuid = u.uuid))`,
  WEBMASTER,
);

const buildOperatorSet = (status: string | undefined): UserSet => ({
  from: toClause('user_roles r JOIN users u ON u.uuid = r.user_uuid'),
  tests: [
    toClause('r.role = ?', WEBMASTER),
    toClause('u.external_id_key IS NULL'),
    ...(status === undefined ? [] : [toClause('u.status = ?', status)]),
  ],
});

/** Lists users (scim.md, sections 7 and 8) with a filter, an order, and pages by index or cursor. */
@Injectable()
export class ScimUserList {
  private readonly scanLimit = this.env.SCIM_SCAN_LIMIT;

  constructor(
    private readonly pages: UserPages,
    private readonly directory: UserDirectory,
    private readonly users: ScimUsers,
    private readonly resources: Resources,
    private readonly counts: UserCounts,
    private readonly settings: UserSettings,
    private readonly budget: SearchBudget,
    private readonly env: Env,
  ) {}

  /**
   * Lists users as a ListResponse.
   * @param getSignal returns a signal that aborts when the client disconnects.
   * @throws ProblemError `too_many`, `invalid_cursor`, or an error of `readListQuery` or `SearchBudget.run`.
   */
  async list(parameters: ListParameters, actor: Actor, getSignal: () => AbortSignal): Promise<ScimObject> {
    const query = readListQuery(parameters, this.resources.user);
    return buildListResponse(query, await this.readPage(query, actor, getSignal));
  }

  async readPage(query: ListQuery, actor: Actor, getSignal: () => AbortSignal): Promise<ResourcePage> {
    const search = this.buildSearch(query, actor);
    const read = async (signal?: AbortSignal): Promise<UserListPage> => {
      const stoppable = { ...search, signal };
      const order = await this.chooseOrder(stoppable);
      return order ? this.readSortedPage(stoppable, order) : this.scan(stoppable);
    };
    const findBroadestPart = async () => (search.plan.source ? 'filter' : 'startIndex');
    const { users, ...page } = isBroad(search)
      ? await this.budget.run(actor, getSignal(), { run: read, findBroadestPart })
      : await read();
    return { ...page, resources: await this.users.present(users, query.projection) };
  }

  private buildSearch(query: ListQuery, actor: Actor): Search {
    const { cursor, sortBy, descending, startIndex, count } = query;
    const plan = planFilter(query.filter, this.settings.roles);
    const hidesOperators = shouldHideOperators(actor);
    const tests = hidesOperators ? [...plan.tests, IS_NOT_OPERATOR] : plan.tests;
    const after = cursor === undefined ? undefined : decodeListCursor(cursor, query);
    return {
      query,
      plan,
      set: { from: plan.source && joinWithUsers(plan.source), tests },
      order: sortBy ? toIndexOrder(sortBy, descending, this.pages) : BY_CREATION,
      window: { after, offset: cursor === undefined ? startIndex - 1 : 0, limit: count },
      hidesOperators,
    };
  }

  /**
   * Returns an order in which the database can filter and sort the list. Returns undefined if this must be done in
   * memory.
   */
  private async chooseOrder({ plan, order, set, signal }: Search): Promise<ListOrder | undefined> {
    if (!plan.isExact) return undefined;
    if (!order?.byLookUp || !plan.source) return order;
    const matching = await this.pages.countUpTo(set, this.scanLimit + 1, signal);
    return matching > this.scanLimit ? order : undefined;
  }

  private async readSortedPage(search: Search, order: ListOrder): Promise<UserListPage> {
    const { query, set, plan, window, signal } = search;
    const countsItself = isUniqueKeyLookup(search);
    const total = countsItself ? undefined : await this.countTotal(search);
    if (window.limit === 0 || (total !== undefined && window.offset >= total))
      return { users: [], total, next: undefined };
    const few = !order.byLookUp && (await this.hasFewMatches(plan, total));
    const toUserSet = (range: ListRange): UserSet => {
      return { from: range.from, tests: [...toRangeTests(set.tests, range), ...(range.tests ?? [])] };
    };
    const { rows, last } = few
      ? await this.pages.read(() => set, toUnindexedOrder(order), window, signal)
      : await this.pages.read(toUserSet, order, window, signal, (range) => this.isRangeEmpty(range, signal));
    return {
      users: rows.map(({ user }) => user),
      total: countsItself ? (last ? await this.countTotal(search) : rows.length) : total,
      next: nextCursorOf(query, last),
    };
  }

  /**
   * Returns true if the range is for users without a value for an attribute, but every user has a value. Returns false
   * for all other ranges.
   */
  private async isRangeEmpty({ without }: ListRange, signal: AbortSignal | undefined): Promise<boolean> {
    if (without === undefined) return false;
    const values = { from: toClause('user_values'), tests: [toClause('attribute = ?', without)] };
    return (await this.pages.count(values, signal)) >= (await this.counts.countUsers([])).all;
  }

  /**
   * Counts the users that match. Uses the counters if there is no filter, or only a condition on the status. For a page
   * with a cursor, counts at most `MAX_COUNTED` matches.
   */
  private async countTotal(search: Search): Promise<number | undefined> {
    const { plan, set, query, hidesOperators: hides, signal } = search;
    const { status, tests } = plan;
    const statuses = status ? [status] : tests.length === 0 ? ['Active', 'Blocked'] : undefined;
    if (statuses) {
      const { matching } = await this.counts.countUsers(statuses);
      return hides ? matching - (await this.pages.count(buildOperatorSet(status), undefined)) : matching;
    }
    if (query.cursor === undefined) return this.pages.count(set, signal);
    const count = await this.pages.countUpTo(set, MAX_COUNTED, signal);
    return count < MAX_COUNTED ? count : undefined;
  }

  private async hasFewMatches({ source, breadth }: FilterPlan, total: number | undefined): Promise<boolean> {
    if (!source) return false;
    if (breadth === 'one') return true;
    return total !== undefined && this.pages.isLookUpFaster(total);
  }

  /** Reads a page by evaluating a limited number of users one by one. */
  private async scan(search: Search): Promise<UserListPage> {
    const { query, window } = search;
    const { sortBy, descending } = query;
    const matches = await this.findMatches(search);
    const { rows, last } = sortPage(matches, (match) => match, sortBy && descending ? 'desc' : 'asc', window);
    const users = await this.readUsers(rows.map(({ uuid }) => uuid));
    return { users, total: matches.length, next: nextCursorOf(query, last) };
  }

  /**
   * Finds the users of the set that match the filter, with their sort keys.
   * @throws ProblemError `too_many` if more than `SCIM_SCAN_LIMIT` users would have to be evaluated.
   */
  private async findMatches({ set, plan, query, signal }: Search): Promise<Position[]> {
    const { sortBy } = query;
    const filter = plan.isExact ? undefined : query.filter;
    const candidates = await this.pages.listOldest(set, this.scanLimit + 1, signal);
    if (candidates.length > this.scanLimit) throw this.createLimitError(sortBy !== undefined);
    const withGroups = (filter && usesAttribute(filter, 'groups')) || sortBy?.attribute.name === 'groups';
    const isMatch = filter && buildMatcher(filter);
    const found: Position[] = [];
    const slice = new TimeSlice();
    for await (const part of toBatches(candidates, BATCH_SIZE, slice)) {
      const users = await this.readUsers(part.map(({ uuid }) => uuid));
      for (const [index, resource] of (await this.users.toResources(users, withGroups)).entries()) {
        const user = users[index];
        if (slice.isOver) await slice.startNext();
        if (!user || (isMatch && !isMatch(resource))) continue;
        found.push({ key: sortBy ? (toSortKey(sortBy, resource) ?? null) : user.created, uuid: user.uuid });
      }
      signal?.throwIfAborted();
      await slice.startNext();
    }
    return found;
  }

  private async readUsers(uuids: readonly string[]): Promise<User[]> {
    const byUuid = await this.directory.findByUuids(uuids);
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? []);
  }

  private createLimitError(isSorted: boolean): ProblemError {
    const what = isSorted
      ? `sortBy supports attributes without an index for at most ${this.scanLimit} users`
      : `The filter would check more than ${this.scanLimit} users`;
    const detail = `${what}. Add a condition with "and" on an indexed attribute: ${INDEXED_PATHS.join(', ')}.`;
    return new ProblemError('too_many', detail);
  }
}

function nextCursorOf(query: ListQuery, last: Position | undefined): string | undefined {
  return query.cursor === undefined || !last ? undefined : encodeListCursor(query, last);
}

const joinWithUsers = ({ sql, params }: Clause): Clause =>
  toClause(`(${sql}) AS c JOIN users u ON u.uuid = c.uuid`, ...params);

/**
 * Returns the conditions for reading one range of the list. Conditions on the sort key of the range limit the part of
 * the index that is read.
 */
const toRangeTests = (tests: readonly UserTest[], { key }: ListRange): Clause[] =>
  tests.map(({ sql, params, inOrder: bound }) => ({ sql: bound?.key === key ? bound.sql : sql, params }));

/**
 * Returns true for the first page of a filter on a unique key. Such a page usually contains all matches, which makes a
 * separate count unnecessary.
 */
function isUniqueKeyLookup({ query, plan }: Search): boolean {
  return plan.breadth === 'one' && query.cursor === undefined && query.startIndex === 1 && query.count > 0;
}

/**
 * Returns true if no index limits the cost of a list. Such a list needs a slot of the search budget, and on SQLite the
 * read worker.
 */
function isBroad({ plan, query, order }: Search): boolean {
  if (plan.breadth === 'one') return false;
  if (plan.source || !plan.isExact || !order || order.byLookUp) return true;
  return query.cursor === undefined && query.startIndex > MAX_SKIPPED_USERS;
}

/** An order in which the database can read a list. */
interface ListOrder extends PageOrder<ListRange> {
  /** True if the order uses a look-up table. If only a few users match, they are sorted in memory instead. */
  byLookUp?: boolean;
}

/** A range of a sorted list. `tests` and the filter together select its users. */
interface ListRange extends KeyRange {
  from?: Clause;
  tests?: readonly Clause[];
  /** Name, in the look-up table, of the attribute that all users in this range lack. Undefined for other ranges. */
  without?: string;
}

/**
 * Maps each attribute with an index to the ranges of its sort order. Users without a value can form a separate range.
 */
const RANGES: Readonly<Record<string, readonly KeyRange[]>> = {
  id: [{ key: 'u.uuid', unique: true }],
  userName: [{ key: 'u.username_key', unique: true }],
  externalId: splitByEmptyKey({ key: 'u.external_id_key', unique: true }, null),
  emails: [{ key: 'u.email_key', unique: true }],
  'meta.created': [{ key: 'u.created', unique: false }],
  'meta.lastModified': [{ key: 'u.updated', unique: false }],
  'name.givenName': splitByEmptyKey({ key: 'u.firstname_sort', unique: false }, ''),
  'name.familyName': splitByEmptyKey({ key: 'u.surname_sort', unique: false }, ''),
};

/** Names of the attributes that are sorted through a look-up table. */
const LOOK_UPS: ReadonlySet<string> = new Set(['displayName', 'employeeNumber', 'department']);

/** The order of creation. New users come last, so earlier pages stay the same. */
const BY_CREATION: ListOrder = { order: 'asc', ranges: [{ key: 'u.created', unique: false }] };

/**
 * Returns the order by an attribute, or undefined if no index has this order. Users without a value come last in
 * ascending order and first in descending order.
 */
function toIndexOrder(
  { attribute, sub }: AttributePath,
  descending: boolean,
  sql: Pick<Sql, 'dialect'>,
): ListOrder | undefined {
  const path = sub && sub.name !== 'value' ? sub.path : attribute.path;
  const byLookUp = LOOK_UPS.has(attribute.name);
  const ranges = byLookUp ? buildLookUpRanges(attribute.name, sql) : RANGES[path];
  if (!ranges) return undefined;
  return descending
    ? { order: 'desc', ranges: ranges.toReversed(), byLookUp }
    : { order: 'asc', ranges, byLookUp };
}

/**
 * Builds the two ranges of a list that is sorted through a look-up table: first users with a value, in the order of
 * `user_values s`, then users without a value.
 */
const buildLookUpRanges = (attribute: string, sql: Pick<Sql, 'dialect'>): ListRange[] => [
  {
    key: 's.value_key',
    tie: 's.user_uuid',
    unique: false,
    from: toClause(`user_values s ${orderedJoinOperatorOf(sql)} users u ON u.uuid = s.user_uuid`),
    tests: [toClause('s.attribute = ?', attribute)],
  },
  {
    key: NO_KEY,
    only: null,
    unique: false,
    tests: [toClause('JSON_EXTRACT(u.attributes, ?) IS NULL', `$.${attribute}`)],
    without: attribute,
  },
];

/**
 * Returns the same order without an index, for sorting a few users. The plus sign keeps SQLite from using the index,
 * and MariaDB ignores it.
 */
const toUnindexedOrder = ({ order, ranges }: ListOrder): ListOrder => ({
  order,
  ranges: ranges.map((range) => ({ ...range, key: `+${range.key}`, tie: '+u.uuid' })),
});
