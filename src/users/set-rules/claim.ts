import { IDENTIFYING, type Identifier, identifiersOf } from '../model/keys.js';
import type { User } from '../model/user.js';
import { isActiveWebmaster } from '../rules/user-rules.js';

/**
 * What a change of one user claims of the end state of its set: only this decides whether changes that are good one by
 * one are good together.
 */
export interface Claim {
  /** Number of the change, from 1: its place in the set, or the line of its row. */
  change: number;
  /** uuid of the user. */
  user: string;
  /** The user does not exist yet. */
  creates: boolean;
  /** The user is gone at the end: nobody has it as a manager. */
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

/** What the deletion of a user claims: it gives up all that it has. */
export function claimOfDeletion(change: number, user: User): Claim {
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
 * @param identifiers those of the user after the change, where they are known.
 * @param managers whether the set changes managers at all; a file without that column spares a million notes.
 * @returns undefined for a change that touches no other user, whatever the rest of the set is.
 */
export function claimOf(
  change: number,
  before: User | undefined,
  after: User,
  {
    managers = true,
    identifiers,
  }: { managers?: boolean; identifiers?: readonly Identifier[] | undefined } = {},
): Claim | undefined {
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

/** The identifiers that a user gives up by a change, and those that it takes. */
function movedIdentifiers(
  before: User | undefined,
  after: User,
  identifiers: readonly Identifier[] | undefined,
): { released: Identifier[]; taken: Identifier[] } {
  // Most changes are of other fields, and computing identifiers costs more than this comparison.
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

function movedManager(before: User | undefined, after: User): Claim['manager'] {
  if (!before) return { before: null, after: after.manager_uuid };
  if (before.manager_uuid === after.manager_uuid) return undefined;
  return { before: before.manager_uuid, after: after.manager_uuid };
}

function movedWebmaster(before: User | undefined, after: User): Claim['webmaster'] {
  const was = before !== undefined && isActiveWebmaster(before);
  if (was === isActiveWebmaster(after)) return undefined;
  if (!was) return 'gained';
  return before.status === after.status ? 'roles' : 'status';
}
