import type { Violation, Change, Create, History } from '../history.js';
import type { Timelines } from '../timeline.js';
import { textOf } from '../world.js';
import { isActiveWebmaster, keysOf } from './sets.js';

type Users = Timelines['users'];

/** Field that a 409 code refers to. */
const TAKEN: Readonly<Record<string, string>> = {
  username_taken: 'username',
  email_taken: 'email',
  external_id_taken: 'external_id',
};

/**
 * Checks that every refusal has a reason at some time of the request: another user has the name, the user was changed
 * since it was read, no other Webmaster is left, the managers would form a circle, or the user does not exist.
 */
export function checkRefusals(history: History, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const holders = findHolders(users);
  for (const entry of [...history.filter('create'), ...history.filter('change')]) {
    const last = entry.call.attempts.at(-1);
    if (!last || last.status < 400 || last.status >= 500 || hasReason(entry, last.code, users, holders))
      continue;
    const value = JSON.stringify(entry.fields);
    const where = `${entry.call.method} ${entry.call.path} ${value}, instance ${last.instance}`;
    broken.push({
      promise: 'refusals have a reason',
      text: `${last.id}: ${last.status} ${last.code} (${where})`,
    });
  }
  return broken;
}

/** Returns the users that ever had a name, by its key. */
function findHolders(users: Users): Map<string, Set<string>> {
  const holders = new Map<string, Set<string>>();
  for (const [user, own] of users) {
    for (const field of Object.values(TAKEN)) {
      for (const { value } of own.get(field)?.moments ?? []) {
        for (const key of keysOf(field, value)) holders.set(key, (holders.get(key) ?? new Set()).add(user));
      }
    }
  }
  return holders;
}

function hasReason(
  entry: Create | Change,
  code: string,
  users: Users,
  holders: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const field = TAKEN[code];
  if (field !== undefined)
    return keysOf(field, entry.fields[field]).some((key) => isHeld(key, entry, users, holders));
  if (entry.kind === 'create') return code !== 'validation_failed';
  const { begin, end } = intervalOf(entry);
  if (code === 'precondition_failed') {
    const since = entry.seen?.begin ?? begin;
    const all = [...(users.get(entry.user)?.values() ?? [])].flatMap(({ moments }) => moments);
    // If its own first attempt changed the user, the retry should have received the first response.
    const own = new Set<string | undefined>(entry.call.attempts.map(({ id }) => id));
    return all.some((moment) => moment.begin <= end && moment.end >= since && !own.has(moment.request));
  }
  if (code === 'last_webmaster') {
    return [...users].every(([user, own]) => {
      if (user === entry.user) return true;
      const roles = own.get('roles')?.valuesDuring(begin, end) ?? [];
      const statuses = own.get('status')?.valuesDuring(begin, end) ?? [];
      return roles.some((some) => statuses.some((status) => !isActiveWebmaster(some, status)));
    });
  }
  if (code === 'validation_failed') return isAbove(textOf(entry.fields['manager_uuid']), entry, users);
  if (code === 'not_found')
    return users.get(entry.user)?.get('username')?.valuesDuring(begin, end).length !== 1;
  return true;
}

/** Returns true if another user may have had the name during the request. */
function isHeld(
  key: string,
  entry: Create | Change,
  users: Users,
  holders: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const { begin, end } = intervalOf(entry);
  for (const user of holders.get(key) ?? []) {
    if (user === entry.user) continue;
    for (const field of Object.values(TAKEN)) {
      const values = users.get(user)?.get(field)?.valuesDuring(begin, end) ?? [];
      if (values.some((value) => keysOf(field, value).includes(key))) return true;
    }
  }
  return false;
}

/** Returns true if the user may have been above this manager in the hierarchy during the request. */
function isAbove(manager: string, entry: Change, users: Users): boolean {
  const { begin, end } = intervalOf(entry);
  const seen = new Set<string>();
  const open = [manager];
  for (let user = open.pop(); user !== undefined; user = open.pop()) {
    if (user === entry.user) return true;
    if (user === '' || seen.has(user)) continue;
    seen.add(user);
    open.push(...(users.get(user)?.get('manager_uuid')?.valuesDuring(begin, end) ?? []).map(textOf));
  }
  return false;
}

/**
 * Returns the time from the first attempt to the last response, although the effect of an earlier attempt may be
 * unknown.
 */
const intervalOf = ({ call }: Create | Change): { begin: number; end: number } => ({
  begin: call.begin,
  end: call.attempts.at(-1)?.end ?? call.end,
});
