import type { FinalState } from '../final-state.js';
import type { Violation, Change, Create, Fields, History, Millis } from '../history.js';
import { ABSENT, type Timelines } from '../timeline.js';
import { numberOf, isSame } from '../world.js';

interface Written {
  value: unknown;
  begin: Millis;
  end: Millis;
}

/**
 * Checks that no acknowledged write is lost: each created user exists, and each field has a value that no later
 * acknowledged change has replaced. Uses only responses and users, not the audit. All instances must show the same
 * users.
 */
export function checkLostWrites(history: History, final: FinalState): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'nothing lost', text });
  const [first, ...others] = final.seen;
  const users = new Map(first?.users.map(({ uuid, fields }) => [uuid, fields]));
  for (const { instance, users: shown } of others) {
    const differ = shown.filter(({ uuid, fields }) => !isSame(fields, users.get(uuid)));
    for (const { uuid } of differ) add(`instances 0 and ${instance} show user ${uuid} differently`);
    if (shown.length !== first?.users.length)
      add(`instances 0 and ${instance} show different numbers of users`);
  }
  const byName = new Map([...users].map(([uuid, { username }]) => [username, uuid]));
  const writes = Map.groupBy(
    [...history.filter('create'), ...history.filter('change')].filter(({ call }) => call.effect !== 'none'),
    (entry) => (entry.user === '' ? byName.get(entry.fields['username']) : entry.user),
  );
  for (const [user, entries] of writes) {
    const fields = user === undefined ? undefined : users.get(user);
    if (fields) for (const text of findLostFields(fields, entries)) add(`user ${user}: ${text}`);
    else if (entries.some(({ kind, call }) => kind === 'create' && call.effect === 'done'))
      add(`user ${user} was created but is missing`);
  }
  for (const { file, rows, fresh, completed } of history.filter('upload')) {
    if (completed === Infinity) continue;
    const there = new Set([...users.values()].map(({ external_id }) => external_id));
    for (const id of fresh)
      if (!there.has(id)) add(`${file} (${rows.size} rows) was completed without ${id}`);
  }
  return broken;
}

/** Default values of a new user. */
const DEFAULTS: Fields = { status: 'Active', roles: ['Organisational user'] };

function findLostFields(fields: Fields, entries: readonly (Create | Change)[]): string[] {
  // The creation of other users is unknown here.
  if (!entries.some(({ kind }) => kind === 'create')) return [];
  const texts: string[] = [];
  for (const name of new Set(entries.flatMap((entry) => Object.keys(entry.fields)))) {
    if (!(name in fields)) continue;
    const written = entries.flatMap(({ kind, fields: sent, call: { begin, end } }): Written[] => {
      if (kind === 'create') return [{ value: sent[name] ?? DEFAULTS[name], begin, end }];
      return name in sent ? [{ value: sent[name], begin, end }] : [];
    });
    const replaced = ({ end }: Written): boolean =>
      written.some(({ begin, end: other }) => begin > end && other < Infinity);
    if (!written.some((one) => isSame(one.value, fields[name]) && !replaced(one)))
      texts.push(
        `${name} is ${JSON.stringify(fields[name])}, which an acknowledged change replaced or no client wrote`,
      );
  }
  return texts;
}

/**
 * Checks that no update was lost: writes with `If-Match` increase the number in `about_me`, and each number was written
 * once. The last number is at least the number of acknowledged writes, and at most the number of all writes.
 */
export function checkIfMatch(history: History, final: FinalState): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'no lost update', text });
  const counting = history.filter('change').filter(({ fields, seen }) => seen && 'about_me' in fields);
  const users = new Map(final.seen[0]?.users.map(({ uuid, fields }) => [uuid, fields]));
  for (const [user, writes] of Map.groupBy(counting, (entry) => entry.user)) {
    const done = writes.filter(({ call }) => call.effect === 'done');
    const open = writes.filter(({ call }) => call.effect === 'unknown');
    const byNumber = Map.groupBy(done, ({ fields }) => numberOf(fields['about_me']));
    for (const [number, list] of byNumber)
      if (list.length > 1) add(`user ${user}: ${list.length} acknowledged writes set the number ${number}`);
    const last = numberOf(users.get(user)?.['about_me']);
    if (last < done.length || last > done.length + open.length)
      add(`user ${user} counts ${last}, after ${done.length} acknowledged and ${open.length} unknown writes`);
  }
  return broken;
}

/**
 * Checks that a read on any instance sees values that were acknowledged before it began, or later ones. A value that
 * was not acknowledged may be seen and then lost when the database is killed, because InnoDB shows a commit before it
 * is on disk.
 */
export function checkReads(history: History, final: FinalState, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const lost = findLostAttempts(history, final);
  for (const { user, fields, begin, end, instance } of history.filter('read')) {
    const own = users.get(user);
    if (!own) continue; // reported by checkAudit
    for (const [field, timeline] of own) {
      const value = fields ? fields[field] : ABSENT;
      const possible = timeline.valuesDuring(begin, end);
      if (possible.some((one) => one === value || (one !== ABSENT && value !== ABSENT && isSame(one, value))))
        continue;
      if (
        lost
          .get(user)
          ?.some((one) => one.begin <= end && field in one.fields && isSame(one.fields[field], value))
      )
        continue;
      const shown = value === ABSENT ? 'no user' : JSON.stringify(value);
      const expected = possible.map((one) => (one === ABSENT ? 'no user' : JSON.stringify(one))).join(' or ');
      broken.push({
        promise: 'reads see what was acknowledged',
        text: `instance ${instance} showed ${field} of user ${user} as ${shown}, not ${expected} (at ${Math.round(begin)} ms)`,
      });
      break;
    }
  }
  return broken;
}

/** Returns attempts with unknown outcome that left no audit row, by user. */
function findLostAttempts(
  history: History,
  final: FinalState,
): Map<string, { begin: Millis; fields: Fields }[]> {
  const stored = new Set(final.audit.map(({ request_id }) => request_id));
  const open = history
    .filter('change')
    .flatMap(({ user, fields, call }) =>
      call.attempts
        .filter(({ id, status, code }) => !stored.has(id) && (status === 0 || code === 'outcome_unknown'))
        .map(({ begin }) => ({ user, begin, fields })),
    );
  return Map.groupBy(open, ({ user }) => user);
}
