import type { FinalState } from '../final-state.js';
import type { Broken, Change, Create, Fields, History, Millis } from '../history.js';
import { ABSENT, type Timelines } from '../timeline.js';
import { numberOf, same } from '../world.js';

interface Written {
  value: unknown;
  begin: Millis;
  end: Millis;
}

/**
 * Nothing acknowledged is lost: each acknowledged user exists, and each field has a value that no later acknowledged
 * change has replaced. Decided from answers and users alone, without the audit. All instances show the same.
 */
export function judgeLost(history: History, final: FinalState): Broken[] {
  const broken: Broken[] = [];
  const add = (text: string): void => void broken.push({ promise: 'nothing lost', text });
  const [first, ...others] = final.seen;
  const users = new Map(first?.users.map(({ uuid, fields }) => [uuid, fields]));
  for (const { instance, users: shown } of others) {
    const differ = shown.filter(({ uuid, fields }) => !same(fields, users.get(uuid)));
    for (const { uuid } of differ) add(`instances 0 and ${instance} show user ${uuid} differently`);
    if (shown.length !== first?.users.length)
      add(`instances 0 and ${instance} show different numbers of users`);
  }
  const byName = new Map([...users].map(([uuid, { username }]) => [username, uuid]));
  const writes = Map.groupBy(
    [...history.of('create'), ...history.of('change')].filter(({ call }) => call.effect !== 'none'),
    (entry) => (entry.user === '' ? byName.get(entry.fields['username']) : entry.user),
  );
  for (const [user, entries] of writes) {
    const fields = user === undefined ? undefined : users.get(user);
    if (fields) for (const text of lostFields(fields, entries)) add(`user ${user}: ${text}`);
    else if (entries.some(({ kind, call }) => kind === 'create' && call.effect === 'done'))
      add(`user ${user} was created, and is gone`);
  }
  for (const { file, rows, fresh, completed } of history.of('upload')) {
    if (completed === Infinity) continue;
    const there = new Set([...users.values()].map(({ external_id }) => external_id));
    for (const id of fresh)
      if (!there.has(id)) add(`${file} (${rows.size} rows) was completed without ${id}`);
  }
  return broken;
}

/** What a new user has where its creation says nothing. */
const DEFAULTS: Fields = { status: 'Active', roles: ['Organisational user'] };

function lostFields(fields: Fields, entries: readonly (Create | Change)[]): string[] {
  // Who created the others, this judge does not know.
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
    if (!written.some((one) => same(one.value, fields[name]) && !replaced(one)))
      texts.push(
        `${name} is ${JSON.stringify(fields[name])}, which an acknowledged change replaced or nobody wrote`,
      );
  }
  return texts;
}

/**
 * No lost update: of the writes with `If-Match` that count up in `about_me`, each number was written once, and the last
 * number is at least that of the acknowledged ones and at most that of all.
 */
export function judgeIfMatch(history: History, final: FinalState): Broken[] {
  const broken: Broken[] = [];
  const add = (text: string): void => void broken.push({ promise: 'no lost update', text });
  const counting = history.of('change').filter(({ fields, seen }) => seen && 'about_me' in fields);
  const users = new Map(final.seen[0]?.users.map(({ uuid, fields }) => [uuid, fields]));
  for (const [user, writes] of Map.groupBy(counting, (entry) => entry.user)) {
    const done = writes.filter(({ call }) => call.effect === 'done');
    const open = writes.filter(({ call }) => call.effect === 'unknown');
    const byNumber = Map.groupBy(done, ({ fields }) => numberOf(fields['about_me']));
    for (const [number, list] of byNumber)
      if (list.length > 1) add(`user ${user}: ${list.length} acknowledged writes made the number ${number}`);
    const last = numberOf(users.get(user)?.['about_me']);
    if (last < done.length || last > done.length + open.length)
      add(`user ${user} counts ${last}, after ${done.length} acknowledged and ${open.length} unknown writes`);
  }
  return broken;
}

/**
 * A read sees what was acknowledged before it began, or something later, on whichever instance. What nobody has acknowledged
 * may be seen and then be gone with a database that is killed: InnoDB shows a commit to others before it is on disk.
 */
export function judgeReads(history: History, final: FinalState, { users }: Timelines): Broken[] {
  const broken: Broken[] = [];
  const lost = lostAttempts(history, final);
  for (const { user, fields, begin, end, instance } of history.of('read')) {
    const own = users.get(user);
    if (!own) continue; // told by the judge of the audit
    for (const [field, timeline] of own) {
      const value = fields ? fields[field] : ABSENT;
      const possible = timeline.during(begin, end);
      if (possible.some((one) => one === value || (one !== ABSENT && value !== ABSENT && same(one, value))))
        continue;
      if (
        lost
          .get(user)
          ?.some((one) => one.begin <= end && field in one.fields && same(one.fields[field], value))
      )
        continue;
      const shown = value === ABSENT ? 'no user' : JSON.stringify(value);
      const wanted = possible.map((one) => (one === ABSENT ? 'no user' : JSON.stringify(one))).join(' or ');
      broken.push({
        promise: 'reads see what was acknowledged',
        text: `instance ${instance} showed ${field} of user ${user} as ${shown}, not ${wanted} (at ${Math.round(begin)} ms)`,
      });
      break;
    }
  }
  return broken;
}

/** Attempts without an outcome that left no audit row, by user. */
function lostAttempts(history: History, final: FinalState): Map<string, { begin: Millis; fields: Fields }[]> {
  const kept = new Set(final.audit.map(({ request_id }) => request_id));
  const open = history
    .of('change')
    .flatMap(({ user, fields, call }) =>
      call.attempts
        .filter(({ id, status, code }) => !kept.has(id) && (status === 0 || code === 'outcome_unknown'))
        .map(({ begin }) => ({ user, begin, fields })),
    );
  return Map.groupBy(open, ({ user }) => user);
}
