import type { RoleCatalogue } from '../../access/roles.js';
import type { Status } from '../../users/model/formats.js';
import { type Clause, where } from '../../users/search/search-plan.js';
import type { Filter } from '../protocol/filter.js';
import { type Breadth, EVERYBODY, type Keyed, NOBODY, type Test, anyOf, keyedBy } from './keyed-values.js';

/** What a filter asks of the database, and what is left to be decided user by user. */
export interface FilterPlan {
  /** Selects the `uuid` of all users that may match; undefined: any user may. */
  source: Clause | undefined;
  breadth: Breadth;
  /** Over `users u`: all of them hold for every user that matches. */
  tests: readonly Test[];
  /** Whether they hold for no other user. */
  isExact: boolean;
  /** The status that is asked for and nothing else: then counters know how many there are. */
  status?: Status;
}

const NO_LIMIT: FilterPlan = { source: undefined, breadth: 'many', tests: [], isExact: true };

/** The keyed parts of a filter as conditions of the search. */
export function planOf(filter: Filter | undefined, roles: RoleCatalogue): FilterPlan {
  if (!filter) return NO_LIMIT;
  const parts = partsOf(filter);
  const keyed = parts.map((part) => keyedPart(part, roles)).filter((part) => part !== EVERYBODY);
  if (keyed.length === 0) return NO_LIMIT;
  const found = keyed.filter((each) => each !== undefined);
  const isExact = keyed.every((each) => each?.isExact === true);
  const best = narrowest(found);
  const status = parts.length === 1 ? statusIn(filter) : undefined;
  return {
    source: best && sourceOf(best, found),
    breadth: best?.breadth ?? 'many',
    tests: found.map(({ test }) => test),
    isExact,
    ...(status && { status }),
  };
}

const narrowest = (parts: readonly Keyed[]): Keyed | undefined =>
  parts.toSorted((a, b) => RANK[a.breadth] - RANK[b.breadth])[0];

/** All tests of the column of the best part lead to the users: both ends of a range. */
function sourceOf({ source, test: { inOrder } }: Keyed, parts: readonly Keyed[]): Clause {
  const ofColumn = parts.flatMap(({ test }) =>
    inOrder && test.inOrder?.key === inOrder.key ? [{ sql: test.inOrder.sql, params: test.params }] : [],
  );
  if (ofColumn.length < 2) return source;
  const { sql, params } = where(ofColumn);
  return { sql: `SELECT u.uuid FROM users u WHERE ${sql}`, params };
}

const RANK: Readonly<Record<Breadth, number>> = { one: 0, some: 1, many: 2 };

/** What all must hold. */
function partsOf(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters.flatMap(partsOf) : [filter];
}

function keyedPart(filter: Filter, roles: RoleCatalogue): Keyed | undefined {
  switch (filter.kind) {
    case 'compare':
      return keyedBy(filter, roles);
    case 'none':
      return NOBODY;
    case 'or': {
      const branches = filter.filters.map((branch) => keyedPart(branch, roles));
      const found = branches.filter((branch) => branch !== undefined);
      return found.length === branches.length ? anyOf(found) : undefined;
    }
    case 'and': {
      const found = filter.filters.map((part) => keyedPart(part, roles));
      return bestOf(found);
    }
    case 'element': {
      // An element that matches is one whose keyed parts match; which element it is must be decided afterwards.
      const inside = keyedPart(filter.filter, roles);
      return inside && { ...inside, isExact: false };
    }
    case 'not':
    case 'present':
      return undefined;
  }
}

/** Inside an `or`, one part of an `and` leads to the users, and the others are tests. */
function bestOf(parts: readonly (Keyed | undefined)[]): Keyed | undefined {
  const found = parts.filter((part) => part !== undefined);
  const best = narrowest(found);
  if (!best) return undefined;
  const isExact = found.length === parts.length && found.every((part) => part.isExact);
  const source = sourceOf(best, found);
  const { sql, params } = where(found.map(({ test }) => test));
  return {
    source: {
      sql: `SELECT u.uuid FROM (${source.sql}) AS k JOIN users u ON u.uuid = k.uuid WHERE ${sql}`,
      params: [...source.params, ...params],
    },
    test: { sql: `(${sql})`, params },
    breadth: best.breadth,
    isExact,
  };
}

function statusIn(filter: Filter): Status | undefined {
  if (filter.kind !== 'compare' || filter.op !== 'eq' || filter.path.attribute.name !== 'active')
    return undefined;
  return filter.value === true ? 'Active' : 'Blocked';
}

/** Whether a filter looks at an attribute, which may have to be read for it. */
export function looksAt(filter: Filter | undefined, name: string): boolean {
  if (!filter) return false;
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.some((part) => looksAt(part, name));
    case 'not':
      return looksAt(filter.filter, name);
    case 'element':
      return filter.attribute.name === name || looksAt(filter.filter, name);
    case 'compare':
    case 'present':
      return filter.path.attribute.name === name;
    case 'none':
      return false;
  }
}
