import type { FinalState } from '../final-state.js';
import type { Violation, History, Millis } from '../history.js';
import type { Timelines } from '../timeline.js';

interface Lifetime {
  user: string;
  begin: Millis;
  end: Millis;
}

/** Returns when each user of the final state was created: not before `begin` and not after `end`. */
function readLifetimes(final: FinalState, { users }: Timelines): Lifetime[] {
  return (final.seen[0]?.users ?? []).map(({ uuid }) => {
    const created = users.get(uuid)?.get('username')?.moments[1];
    return { user: uuid, begin: created?.begin ?? -Infinity, end: created?.end ?? Infinity };
  });
}

/** Checks that `Count` matches a walk in the final state, and was possible at each time it was read. */
export function checkCounts(history: History, final: FinalState, timelines: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'counts', text });
  for (const { instance, users, counts } of final.seen) {
    for (const [status, count] of Object.entries(counts)) {
      const walked = new Set(
        users.filter(({ fields }) => status === '' || fields['status'] === status).map(({ uuid }) => uuid),
      );
      if (walked.size !== count)
        add(
          `instance ${instance} counts ${count} users (${status || 'all'}), and a walk finds ${walked.size}`,
        );
    }
  }
  const all = readLifetimes(final, timelines);
  for (const { status, count, begin, end, instance } of history.filter('count')) {
    let least = 0;
    let most = 0;
    for (const life of all) {
      const known = timelines.users.get(life.user)?.get('status')?.valuesDuring(begin, end) ?? [];
      const values = status === '' ? [status] : known; // without a filter, all users count
      least += Number(life.end < begin && values.every((value) => value === status));
      most += Number(life.begin <= end && values.includes(status));
    }
    if (count < least || count > most)
      add(
        `instance ${instance} counted ${count} (${status || 'all'}) at ${Math.round(begin)} ms, not ${least} to ${most}`,
      );
  }
  return broken;
}

/**
 * Checks that a walk sees every user that existed throughout. By cursor, or while nothing changes, no user may appear
 * twice.
 */
export function checkWalks(history: History, final: FinalState, timelines: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'complete walks', text });
  const all = readLifetimes(final, timelines);
  for (const { how, users, begin, instance } of history.filter('walk')) {
    const seen = new Set(users);
    const missed = all.filter((life) => life.end < begin && !seen.has(life.user));
    const name = `a walk by ${how} on instance ${instance} at ${Math.round(begin)} ms`;
    if (missed.length > 0) add(`${name} missed ${missed.length} users, such as ${missed[0]?.user}`);
    // By offset, a user that is created meanwhile may move other users to the next page.
    if (how === 'cursor' && seen.size !== users.length)
      add(`${name} saw ${users.length - seen.size} users twice`);
  }
  for (const { instance, users, byOffset } of final.seen) {
    const seen = new Set(users.map(({ uuid }) => uuid));
    if (seen.size !== users.length) add(`at the end instance ${instance} shows a user twice`);
    if (byOffset.length !== users.length || byOffset.some((user) => !seen.has(user)))
      add(`at the end instance ${instance} shows other users by offset than by cursor`);
  }
  return broken;
}

/** Checks that searches find the users with the searched values. */
export function checkSearches({ lookups }: FinalState): Violation[] {
  return lookups.flatMap(({ query, expected, exact, found }) => {
    const seen = new Set(found);
    const right = expected.every((user) => seen.has(user)) && (!exact || seen.size === expected.length);
    const text = `${query} finds ${found.length} users (${found.slice(0, 3).join(', ')}), not ${expected.slice(0, 3).join(', ')}`;
    return right && seen.size === found.length ? [] : [{ promise: 'searches', text }];
  });
}
