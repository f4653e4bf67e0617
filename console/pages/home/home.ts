import { type Run, type User, api, ask } from '../../api/client.js';
import type { components } from '../../api/generated.js';
import { type Key, daysLeft } from '../keys/keys.js';

type Status = components['schemas']['StatusDto'];

const DAY = 86_400_000;
const DAYS = 30;
/** Days before its end from which a key is pointed out. */
const SOON = 30;
const LIST = 100;
/** Runs that are looked at for the last days; a busier service shows fewer days. */
const MOST_RUNS = 300;

export interface Day {
  /** ISO 8601, of the reader's zone. */
  date: string;
  created: number;
  updated: number;
  blocked: number;
  failed: number;
  runs: number;
}

export interface Overview {
  status: Status;
  active: number;
  blocked: number;
  waiting: Run[];
  /** The newest run that was no dry run, of each data set. */
  latest: Run[];
  expiring: Key[];
  failedLogins: number;
  days: Day[];
}

const countOf = async (status: User['status'], signal: AbortSignal): Promise<number> => {
  const params = { query: { status: [status], limit: 1 } };
  return (await ask(api.GET('/api/0.3/users/search', { params, signal }))).data.Count;
};

async function runsOf(
  query: { state?: Run['state'][]; offset?: number; limit: number },
  signal: AbortSignal,
) {
  return (await ask(api.GET('/api/0.3/imports', { params: { query }, signal }))).data;
}

/** The newest runs, back to the first of the last days. */
async function newestRuns(since: number, signal: AbortSignal): Promise<Run[]> {
  const runs: Run[] = [];
  while (runs.length < MOST_RUNS) {
    const { Count, Results } = await runsOf({ offset: runs.length, limit: LIST }, signal);
    runs.push(...Results);
    const last = Results.at(-1);
    if (!last || runs.length >= Count || Date.parse(last.created) < since) break;
  }
  return runs;
}

async function failedLoginsOf(since: number, signal: AbortSignal): Promise<number> {
  const query = { action: ['session.login_failed' as const], since: new Date(since).toISOString(), limit: 1 };
  return (await ask(api.GET('/api/0.3/audit', { params: { query }, signal }))).data.Count;
}

async function keysOf(signal: AbortSignal): Promise<Key[]> {
  return (await ask(api.GET('/api/0.3/api_keys', { params: { query: { limit: LIST } }, signal }))).data
    .Results;
}

/** Everything that the first page says, asked for at once. */
export async function loadOverview(signal: AbortSignal): Promise<Overview> {
  const now = Date.now();
  const since = now - DAYS * DAY;
  const [{ data: status }, active, blocked, waiting, runs, keys, failedLogins] = await Promise.all([
    ask(api.GET('/api/0.3/status', { signal })),
    countOf('Active', signal),
    countOf('Blocked', signal),
    runsOf({ state: ['needs_approval', 'planned'], limit: 10 }, signal),
    newestRuns(since, signal),
    keysOf(signal),
    failedLoginsOf(now - DAY, signal),
  ]);
  const written = runs.filter((run) => !run.dry_run);
  return {
    status,
    active,
    blocked,
    waiting: waiting.Results,
    latest: [...new Map(written.toReversed().map((run) => [run.options.dataset, run])).values()],
    expiring: keys.filter((key) => key.state === 'active' && (daysLeft(key, now) ?? SOON + 1) <= SOON),
    failedLogins,
    days: daysOf(written, now),
  };
}

/** The day of a moment, in the reader's zone. */
const dayOf = (millis: number): string => {
  const date = new Date(millis);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
};

/** What imports have changed on each of the last days; days without one are zeros. */
function daysOf(runs: readonly Run[], now: number): Day[] {
  const days = new Map(
    Array.from({ length: DAYS }, (_, n): [string, Day] => {
      const date = dayOf(now - (DAYS - 1 - n) * DAY);
      return [date, { date, created: 0, updated: 0, blocked: 0, failed: 0, runs: 0 }];
    }),
  );
  for (const { finished, counts, missing } of runs) {
    const day = finished === null ? undefined : days.get(dayOf(Date.parse(finished)));
    if (!day) continue;
    day.runs++;
    day.created += counts?.created ?? 0;
    day.updated += (counts?.updated ?? 0) + (counts?.reactivated ?? 0);
    day.blocked += (counts?.blocked ?? 0) + missing.blocked;
    day.failed += counts?.error ?? 0;
  }
  return [...days.values()];
}
