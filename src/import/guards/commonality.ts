import type { ManagedUser } from '../../users/search/user-directory.service.js';

/** Share of the lost users that must stand in a few stretches, or share a value. */
const MOST = 0.9;
const MAX_STRETCHES = 2;
/** Share of the lost users that must belong to groups that are lost, and share of its members that a group loses. */
const IN_GROUPS = 0.8;
const MIN_GROUP = 5;
/** Groups and roles with at least this share of all users are not evaluated. */
const HALF = 0.5;

type IsLost = (index: number) => boolean;

const ORDERS = [
  ['external id', ({ external_id: id }: ManagedUser) => id],
  ['username', ({ username_key: key }: ManagedUser) => key],
  ['surname', ({ surname_sort: key }: ManagedUser) => key],
] as const;

/** Kinds of groups, with a function that lists the groups of a user. */
const KINDS = [
  ['the e-mail domain', ({ email_key: email }: ManagedUser) => [email.slice(email.lastIndexOf('@') + 1)]],
  ['the manager', ({ manager_uuid: manager }: ManagedUser) => [manager ?? '']],
  ['the role', ({ roles }: ManagedUser) => roles],
] as const;

/**
 * Returns what the lost users have in common (interface §6, `lost_together`), or undefined.
 * @param users active users of the scope before the run.
 */
export function findCommonality(users: readonly ManagedUser[], isLost: IsLost): string | undefined {
  const lost = users.reduce((count, _, index) => count + Number(isLost(index)), 0);
  if (lost === 0) return undefined;
  return findStretches(users, isLost, lost) ?? findGroups(users, isLost, lost);
}

function findStretches(users: readonly ManagedUser[], isLost: IsLost, lost: number): string | undefined {
  for (const [name, keyOf] of ORDERS) {
    const keys = users.map(keyOf);
    const order = [...users.keys()].sort((a, b) => compareTexts(keys[a] ?? '', keys[b] ?? ''));
    const lengths: number[] = [];
    let length = 0;
    for (const index of order) {
      if (isLost(index)) length++;
      else if (length > 0) {
        lengths.push(length);
        length = 0;
      }
    }
    lengths.push(length);
    const [first = 0, second = 0] = lengths.sort((a, b) => b - a);
    if (first + second >= MOST * lost)
      return `sorted by ${name}, they stand in at most ${MAX_STRETCHES} unbroken stretches`;
  }
  return undefined;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function findGroups(users: readonly ManagedUser[], isLost: IsLost, lost: number): string | undefined {
  for (const [kind, groupsOf] of KINDS) {
    const groups = new Map<string, { members: number; lost: number }>();
    for (const [index, user] of users.entries())
      for (const name of groupsOf(user)) {
        const group = groups.get(name) ?? { members: 0, lost: 0 };
        groups.set(name, group);
        group.members++;
        if (isLost(index)) group.lost++;
      }
    const shared = [...groups].find(
      ([, { members, lost: count }]) => count >= MOST * lost && members < HALF * users.length,
    );
    if (shared) return `almost all share ${kind}${formatNames(kind, [shared[0]])}`;
    const gone = new Set(
      [...groups].flatMap(([name, { members, lost: count }]) =>
        members >= MIN_GROUP && members < HALF * users.length && count >= MOST * members ? [name] : [],
      ),
    );
    const inGroups = users.reduce(
      (count, user, index) => count + Number(isLost(index) && groupsOf(user).some((name) => gone.has(name))),
      0,
    );
    if (inGroups >= IN_GROUPS * lost)
      return `they are ${gone.size} whole groups that share ${kind}${formatNames(kind, [...gone])}`;
  }
  return undefined;
}

const formatNames = (kind: string, names: readonly string[]): string =>
  kind === 'the manager' ? '' : `: ${names.slice(0, 3).join(', ')}`;
