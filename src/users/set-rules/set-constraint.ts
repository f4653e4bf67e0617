import { IDENTIFYING_FIELDS, type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { User } from '../model/user.js';
import { isActiveWebmaster } from '../rules/user-rules.js';

/** Effects of a change on identifiers, managers and Webmasters, which the set rules check. */
export interface SetConstraint {
  /** Number of the change, from 1: its position in the change set, or the line of its row in the file. */
  change: number;
  user: string;
  creates: boolean;
  /** True if the change restores a user. If the manager does not exist, the user is restored without a manager. */
  restores?: boolean;
  deletes?: true;
  /** Identifiers that the user has only before the change. */
  released: readonly Identifier[];
  /** Identifiers that the user has only after the change. */
  taken: readonly Identifier[];
  /**
   * The manager before and after the change. Set for every new user, and for an existing user whose manager changes.
   */
  manager?: ManagerChange;
  /**
   * `gained` if the user becomes an active Webmaster, or the cause if the user stops being one. Otherwise undefined.
   */
  webmaster?: 'gained' | 'status' | 'roles' | 'deleted';
}

export type ManagerChange = Record<'before' | 'after', string | null>;

export function createDeletionConstraint(change: number, user: User): SetConstraint {
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
 * Creates the constraint of a change, or returns undefined if the change cannot affect other users.
 * @param managers false if no change of the set changes a manager, which saves memory.
 * @param identifiers identifiers of the user after the change, if already computed.
 */
export function createConstraint(
  change: number,
  before: User | undefined,
  after: User,
  { managers = true, identifiers }: { managers?: boolean; identifiers?: readonly Identifier[] | undefined },
): SetConstraint | undefined {
  const { released, taken } = diffIdentifiers(before, after, identifiers);
  const changesManager = managers && (!before || before.manager_uuid !== after.manager_uuid);
  const webmaster = diffWebmaster(before, after);
  if (released.length + taken.length === 0 && !changesManager && !webmaster) return undefined;
  return {
    change,
    user: after.uuid,
    creates: before === undefined,
    released,
    taken,
    ...(changesManager && {
      manager: { before: before?.manager_uuid ?? null, after: after.manager_uuid },
    }),
    ...(webmaster && { webmaster }),
  };
}

function diffIdentifiers(
  before: User | undefined,
  after: User,
  identifiers: readonly Identifier[] | undefined,
): { released: Identifier[]; taken: Identifier[] } {
  // Comparing the fields is cheaper than computing the identifiers.
  if (before && IDENTIFYING_FIELDS.every((field) => before[field] === after[field]))
    return { released: [], taken: [] };
  const old = before ? identifiersOf(before) : [];
  const current = identifiers ?? identifiersOf(after);
  return { released: subtractIdentifiers(old, current), taken: subtractIdentifiers(current, old) };
}

function subtractIdentifiers(list: readonly Identifier[], others: readonly Identifier[]): Identifier[] {
  if (others.length === 0) return [...list];
  const known = new Set(others.map(({ identifier }) => identifier));
  return list.filter(({ identifier }) => !known.has(identifier));
}

function diffWebmaster(before: User | undefined, after: User): SetConstraint['webmaster'] {
  const wasWebmaster = before !== undefined && isActiveWebmaster(before);
  if (wasWebmaster === isActiveWebmaster(after)) return undefined;
  if (!wasWebmaster) return 'gained';
  return before.status === after.status ? 'roles' : 'status';
}
