import { getOrCreate } from '../../platform/common/maps.js';
import { computeHash64 } from '../../users/set-rules/number-collections.js';
import { FoundRows } from './found-rows.js';
import { SCOPE, computeLimit, defineGuard } from './guard.js';
import { losesAccess } from './plan.js';
import type { ManagedUser } from '../../users/search/user-directory.service.js';

/** Minimum share of the lost users who must be consecutive in the sorted scope, or share a value. */
const MOST = 0.9;
const MAX_STRETCHES = 2;
/** Minimum share of the lost users who must belong to groups that lose almost all members. */
const IN_GROUPS = 0.8;
const MIN_GROUP = 5;
/** Groups and roles with at least this share of all users are not evaluated. */
const HALF = 0.5;

type Users = ReadonlySet<ManagedUser>;

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

/** Maximum number of compared users. In a larger scope, only a sample of about this size is compared. */
const MAX_USERS = 2 ** 15;

export const lostTogether = defineGuard({
  name: 'lost_together',
  counts: 'users who lose access and are adjacent in the sorted file, share a value, or are whole groups',
  population: SCOPE,
  limits: { rows: 10, percent: 2 },
  explains: ['deactivations', 'changed_managers', 'role_holders', 'errors'],
  hint: 'The file probably lacks a part of the source, such as one site, one team or its last pages. Compare the number of rows with the source, and export it again. Approve only if all these people have left.',
  start({ scope, readScope }, limits) {
    const found = new FoundRows();
    const divisor = Math.max(1, Math.ceil(scope.active / MAX_USERS));
    const isSampled = (uuid: string): boolean => (computeHash64(uuid)[0] >>> 0) % divisor === 0;
    const lost = new Set<string>();
    return {
      add(row) {
        if (!losesAccess(row) || row.user_uuid === null) return;
        found.add(row, { old: 'Active', new: 'Blocked' });
        if (isSampled(row.user_uuid)) lost.add(row.user_uuid);
      },
      async finish() {
        if (found.count <= computeLimit(limits, scope.users)) return [{ found: new FoundRows() }];
        const users: ManagedUser[] = [];
        for await (const page of readScope()) users.push(...page.filter(({ uuid }) => isSampled(uuid)));
        const common = findCommonality(users, new Set(users.filter(({ uuid }) => lost.has(uuid))));
        if (common === undefined) return [{ found: new FoundRows() }];
        return [{ found, detail: `${found.count} users: ${common}.` }];
      },
    };
  },
});

/**
 * Returns what the lost users have in common (interface §6, `lost_together`), or undefined.
 * @param users active users of the scope before the run.
 */
function findCommonality(users: readonly ManagedUser[], lost: Users): string | undefined {
  return lost.size === 0 ? undefined : (findStretches(users, lost) ?? findGroups(users, lost));
}

function findStretches(users: readonly ManagedUser[], lost: Users): string | undefined {
  for (const [name, keyOf] of ORDERS) {
    const lengths: number[] = [];
    let length = 0;
    for (const user of users.toSorted((a, b) => compareTexts(keyOf(a), keyOf(b)))) {
      if (lost.has(user)) length++;
      else if (length > 0) {
        lengths.push(length);
        length = 0;
      }
    }
    lengths.push(length);
    const [first = 0, second = 0] = lengths.sort((a, b) => b - a);
    if (first + second >= MOST * lost.size)
      return `sorted by ${name}, almost all are in at most ${MAX_STRETCHES} ranges without other users`;
  }
  return undefined;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function findGroups(users: readonly ManagedUser[], lost: Users): string | undefined {
  for (const [kind, groupsOf] of KINDS) {
    const groups = new Map<string, { members: number; lost: number }>();
    for (const user of users)
      for (const name of groupsOf(user)) {
        const group = getOrCreate(groups, name, () => ({ members: 0, lost: 0 }));
        group.members++;
        if (lost.has(user)) group.lost++;
      }
    const shared = [...groups].find(
      ([, { members, lost: count }]) => count >= MOST * lost.size && members < HALF * users.length,
    );
    if (shared) return `almost all share ${kind}${formatNames(kind, [shared[0]])}`;
    const gone = new Set(
      [...groups].flatMap(([name, { members, lost: count }]) =>
        members >= MIN_GROUP && members < HALF * users.length && count >= MOST * members ? [name] : [],
      ),
    );
    const inGroups = [...lost].filter((user) => groupsOf(user).some((name) => gone.has(name)));
    if (inGroups.length >= IN_GROUPS * lost.size)
      return `they are ${gone.size} whole groups that share ${kind}${formatNames(kind, [...gone])}`;
  }
  return undefined;
}

const formatNames = (kind: string, names: readonly string[]): string =>
  kind === 'the manager' ? '' : `: ${names.slice(0, 3).join(', ')}`;
