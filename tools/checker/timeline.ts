import type { AuditRow, FinalState } from './final-state.js';
import type { Violation, Call, Change, Create, History, Millis, Upload } from './history.js';
import { TRACKED, normalize, isSame } from './world.js';

/** A value of a field. It was written not before `begin` and not after `end`. */
export interface Moment {
  value: unknown;
  begin: Millis;
  end: Millis;
  /** Id of the request that wrote the value. */
  request?: string;
}

/** Value of every field before the user exists. */
export const ABSENT = Symbol('absent');

/** The values of a field of a user, in order. */
export class Timeline {
  constructor(readonly moments: readonly Moment[]) {}

  /** Returns the values that a read between `from` and `to` may see. */
  valuesDuring(from: Millis, to: Millis): unknown[] {
    const found: unknown[] = [];
    for (let index = this.moments.length - 1; index >= 0; index--) {
      const { value, begin, end } = this.moments[index] as Moment;
      if (begin <= to) found.push(value);
      if (end < from) break; // earlier values were replaced before `from`
    }
    return found;
  }

  /** Returns the only possible value at a time, or undefined if several are possible. */
  certainAt(at: Millis): { value: unknown } | undefined {
    const values = this.valuesDuring(at, at);
    return values.length === 1 ? { value: values[0] } : undefined;
  }
}

type Writing = Create | Change | Upload;

/** An attempt of a request, with the call that it belongs to. */
export interface Sent {
  entry: Writing;
  begin: Millis;
  end: Millis;
}

/** Returns all attempts of requests that write users, by their id. */
export function indexAttempts(history: History): Map<string, Sent> {
  const sent = new Map<string, Sent>();
  for (const entry of [
    ...history.filter('create'),
    ...history.filter('change'),
    ...history.filter('upload'),
  ]) {
    for (const { id, begin, end, status } of entry.call.attempts) {
      const upload = entry.kind === 'upload';
      const answered = status >= 200 && status < 300 ? end : endOf(entry.call);
      sent.set(id, { entry, begin, end: upload ? entry.completed : answered });
    }
  }
  return sent;
}

const endOf = (call: Call): Millis => (call.effect === 'done' ? call.end : Infinity);

export interface Timelines {
  /** Timelines by user and field. */
  users: Map<string, Map<string, Timeline>>;
  broken: Violation[];
}

/** Orders the audit rows of each user by their values: the old value of a row is the new value of the row before. */
export function buildTimelines(history: History, final: FinalState): Timelines {
  const sent = indexAttempts(history);
  const rows = Map.groupBy(
    final.audit.filter(({ target }) => target.kind === 'user'),
    ({ target }) => target.id,
  );
  const users = new Map<string, Map<string, Timeline>>();
  const broken: Violation[] = [];
  const seenBy = indexReads(history);
  for (const [user, own] of rows) {
    const [created, ...others] = own.toSorted(
      (a, b) => Number(b.action === 'user.created') - Number(a.action === 'user.created'),
    );
    if (created?.action !== 'user.created') {
      broken.push({ promise: 'audit', text: `user ${user} has audit rows, but no row of its creation` });
      continue;
    }
    const chain = orderRows(created, others);
    if ('stuck' in chain) {
      broken.push({ promise: 'audit', text: `the audit of user ${user} has a gap: ${chain.stuck}` });
      continue;
    }
    const fields = new Map<string, Timeline>();
    for (const field of TRACKED) {
      const moments: Moment[] = [{ value: ABSENT, begin: -Infinity, end: -Infinity }];
      for (const row of chain.rows) {
        const change = row.changes.find((one) => one.field === field);
        if (!change && row !== created) continue;
        const { begin, end } = sent.get(row.request_id) ?? { begin: -Infinity, end: -Infinity };
        const value = normalize(change?.new);
        moments.push({
          value,
          begin,
          end: Math.min(end, seenBy(user, field, value, begin)),
          request: row.request_id,
        });
      }
      fields.set(field, new Timeline(moments));
      const late = findDisorder(moments);
      if (late !== undefined)
        broken.push({ promise: 'order of changes', text: `user ${user}: ${field} ${late}` });
    }
    users.set(user, fields);
  }
  return { users, broken };
}

/**
 * Returns a description of two changes in the wrong order. A change that was acknowledged before another change began must
 * precede it.
 */
function findDisorder(moments: readonly Moment[]): string | undefined {
  let earliest: Moment | undefined;
  for (const moment of moments.toReversed()) {
    if (earliest && earliest.end < moment.begin)
      return `became ${String(earliest.value)} before ${String(moment.value)}, which was sent only afterwards`;
    if (!earliest || moment.end < earliest.end) earliest = moment;
  }
  return undefined;
}

/**
 * Returns a function that finds the end of the first read of a value. Such a value is written by only one request, so
 * it was stored by then.
 */
function indexReads(
  history: History,
): (user: string, field: string, value: unknown, begin: Millis) => Millis {
  const reads = new Map<string, { begin: Millis; end: Millis }[]>();
  for (const { user, fields, begin, end } of history.filter('read')) {
    for (const field of ['about_me', 'known_as', 'phone']) {
      const value = fields?.[field];
      if (typeof value !== 'string') continue;
      const key = `${user} ${field} ${value}`;
      const all = reads.get(key);
      if (all) all.push({ begin, end });
      else reads.set(key, [{ begin, end }]);
    }
  }
  return (user, field, value, since) => {
    const all = typeof value === 'string' ? (reads.get(`${user} ${field} ${value}`) ?? []) : [];
    // Earlier reads saw an attempt whose commit was lost, see `checkReads`.
    return Math.min(Infinity, ...all.filter(({ begin }) => begin >= since).map(({ end }) => end));
  };
}

/**
 * Orders audit rows by their values.
 * @param rows ordered by id, which can differ from the order of changes within some milliseconds.
 */
function orderRows(created: AuditRow, rows: readonly AuditRow[]): { rows: AuditRow[] } | { stuck: string } {
  const state = new Map<string, unknown>();
  const apply = (row: AuditRow): void => {
    for (const { field, new: value } of row.changes) state.set(field, normalize(value));
  };
  apply(created);
  const ordered = [created];
  const left = [...rows];
  while (left.length > 0) {
    const next = left.findIndex(({ changes }) =>
      changes.every((change) => !('old' in change) || isSame(change.old, state.get(change.field))),
    );
    const row = left[next];
    if (!row) return { stuck: describeGap(left[0] as AuditRow, state) };
    left.splice(next, 1);
    apply(row);
    ordered.push(row);
  }
  return { rows: ordered };
}

function describeGap({ id, changes }: AuditRow, state: Map<string, unknown>): string {
  const parts = changes.map(
    ({ field, old }) =>
      `${field} was ${JSON.stringify(old)}, but should be ${JSON.stringify(state.get(field))}`,
  );
  return `row ${id}: ${parts.join(', ')}`;
}
