import { IDENTIFYING, type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { User } from '../model/user.js';
import { isActiveWebmaster } from '../rules/user-rules.js';

/** What the validity of one change demands of the other changes of its set: identifiers, a manager, a Webmaster. */
export interface SetConstraint {
  /** Number of the change, from 1: its place in the set, or the line of its row. */
  change: number;
  /** uuid of the user. */
  user: string;
  /** The user does not exist yet. */
  creates: boolean;
  /** The user is deleted, so it cannot be a manager. */
  deletes?: true;
  /** Identifiers that the user has now and gives up. */
  released: readonly Identifier[];
  /** Identifiers that the user does not have yet. */
  taken: readonly Identifier[];
  /** Where it changes. Of a new user always: other changes of the set may name it as their manager. */
  manager?: { before: string | null; after: string | null };
  /** The user becomes an active Webmaster, or ceases to be one by this field. */
  webmaster?: 'gained' | 'status' | 'roles' | 'deleted';
}

/** Returns the constraint of a deletion, which releases all identifiers of the user. */
export function deletionConstraint(change: number, user: User): SetConstraint {
  return {
    change,
    user: user.uuid,
    creates: false,
    deletes: true,
    released: identifiersOf(user),
    taken: [],
    manager: { before: user.manager_uuid, after: null },
    ...(isActiveWebmaster(user) && { webmaster: 'deleted' }),
  };
}

/**
 * Returns the constraint of a change, undefined when the change affects no other user.
 * @param identifiers of the user after the change, where they are known.
 * @param managers false where no change of the set changes a manager. A file without that column saves a million notes.
 */
export function constraintOf(
  change: number,
  before: User | undefined,
  after: User,
  known: { managers?: boolean; identifiers?: readonly Identifier[] | undefined } = {},
): SetConstraint | undefined {
  // Most changes are of other fields. A field that no patch touches keeps its value by reference.
  if (before && SHARED.every((field) => before[field] === after[field])) return undefined;
  return changedConstraint(change, before, after, known);
}

/** The fields of a user that matter to other users. */
const SHARED = [...IDENTIFYING, 'manager_uuid', 'status', 'roles', 'group_roles'] as const;

function changedConstraint(
  change: number,
  before: User | undefined,
  after: User,
  { managers = true, identifiers }: { managers?: boolean; identifiers?: readonly Identifier[] | undefined },
): SetConstraint | undefined {
  const { released, taken } = movedIdentifiers(before, after, identifiers);
  const manager = managers ? movedManager(before, after) : undefined;
  const webmaster = movedWebmaster(before, after);
  if (released.length + taken.length === 0 && !manager && !webmaster) return undefined;
  return {
    change,
    user: after.uuid,
    creates: before === undefined,
    released,
    taken,
    ...(manager && { manager }),
    ...(webmaster && { webmaster }),
  };
}

/** Returns the identifiers that a change releases and the identifiers that it takes. */
function movedIdentifiers(
  before: User | undefined,
  after: User,
  identifiers: readonly Identifier[] | undefined,
): { released: Identifier[]; taken: Identifier[] } {
  // Computing identifiers costs more than this comparison.
  if (before && IDENTIFYING.every((field) => before[field] === after[field]))
    return { released: [], taken: [] };
  const old = before ? identifiersOf(before) : [];
  const own = identifiers ?? identifiersOf(after);
  return { released: without(old, own), taken: without(own, old) };
}

function without(list: readonly Identifier[], others: readonly Identifier[]): Identifier[] {
  if (others.length === 0) return [...list];
  const known = new Set(others.map(({ identifier }) => identifier));
  return list.filter(({ identifier }) => !known.has(identifier));
}

function movedManager(before: User | undefined, after: User): SetConstraint['manager'] {
  if (!before) return { before: null, after: after.manager_uuid };
  if (before.manager_uuid === after.manager_uuid) return undefined;
  return { before: before.manager_uuid, after: after.manager_uuid };
}

function movedWebmaster(before: User | undefined, after: User): SetConstraint['webmaster'] {
  const was = before !== undefined && isActiveWebmaster(before);
  if (was === isActiveWebmaster(after)) return undefined;
  if (!was) return 'gained';
  return before.status === after.status ? 'roles' : 'status';
}
