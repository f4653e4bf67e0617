import { type Outcome, type Row, type Run, api, ask, nextOf } from '../../api/client.js';
import { words } from '../../lib/text.js';
import { searchUsers } from '../users/search.js';

const OUTCOMES: readonly Outcome[] = [
  'created',
  'updated',
  'reactivated',
  'blocked',
  'unchanged',
  'skipped',
  'error',
  'missing',
];

/** In the place of a state: the states of runs that wait for a decision. */
export const WAITING = 'waiting';
const UNDECIDED: Run['state'][] = ['needs_approval', 'planned'];

/** Whether somebody has to decide on a run: it is a plan. */
export const isWaiting = ({ state }: Run): boolean => UNDECIDED.includes(state);

const LIST = 25;
const ROWS = 50;

/** A page of runs, newest first. @param after how many are before it. */
export async function loadRuns(query: URLSearchParams, signal: AbortSignal) {
  const offset = Number(query.get('after') ?? 0);
  const [state, dataset] = [query.get('state'), query.get('dataset')];
  const params = {
    query: {
      offset,
      limit: LIST,
      ...(state && { state: state === WAITING ? UNDECIDED : [state as Run['state']] }),
      ...(dataset && { dataset }),
    },
  };
  const { data } = await ask(api.GET('/api/0.3/imports', { params, signal }));
  const end = offset + data.Results.length;
  return { count: data.Count, runs: data.Results, next: end < data.Count ? String(end) : '' };
}

export async function loadRun(id: string, signal?: AbortSignal): Promise<Run> {
  const params = { path: { import_id: id } };
  return (await ask(api.GET('/api/0.3/imports/{import_id}', { params, ...(signal && { signal }) }))).data;
}

/** Rows, and external ids, of one request. */
export const MOST_IDS = 100;
/** People that a search in a plan looks at. */
const FOUND = 50;

/** The row of each of these people, by external id. */
export async function loadRowsOf(
  id: string,
  externalIds: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Row>> {
  const query = { limit: MOST_IDS, external_id: [...externalIds] };
  const params = { path: { import_id: id }, query };
  const { data } = await ask(api.GET('/api/0.3/imports/{import_id}/rows', { params, signal }));
  return new Map(data.Results.map((row) => [row.external_id, row]));
}

/** What somebody types who looks for a person: an external id, or words of a user that has one. */
async function externalIdsOf(text: string, signal: AbortSignal): Promise<string[]> {
  const { users } = await searchUsers(new URLSearchParams({ q: text }), signal, FOUND);
  return [...new Set([text, ...users.map((user) => user.external_id)])].filter((id) => id !== '');
}

/** Which rows of a run, as the address says it. */
export interface RowFilter {
  outcome: string;
  /** An external id, or words of a user; '' for everybody. */
  person: string;
  after: string;
}

export async function loadRows(
  id: string,
  { outcome, person, after }: RowFilter,
  signal: AbortSignal,
  limit = ROWS,
) {
  const chosen = OUTCOMES.filter((each) => each === outcome);
  const query = {
    limit,
    ...(chosen.length > 0 && { outcome: chosen }),
    ...(person && { external_id: await externalIdsOf(person, signal) }),
    ...(after && { after }),
  };
  const call = api.GET('/api/0.3/imports/{import_id}/rows', {
    params: { path: { import_id: id }, query },
    signal,
  });
  const { data, headers } = await ask(call);
  return { count: data.Count, rows: data.Results, next: nextOf(headers) };
}

/** As many rows as can be looked at together. */
const MANY = 500;

/** As `loadRows`, several pages as one. */
export async function loadManyRows(id: string, filter: RowFilter, signal: AbortSignal) {
  const rows: Row[] = [];
  let { after } = filter;
  for (;;) {
    const page = await loadRows(id, { ...filter, after }, signal, MOST_IDS);
    rows.push(...page.rows);
    if (!page.next || rows.length >= MANY) return { ...page, rows };
    after = page.next;
  }
}

/** Notes of the service about who manages and has blocked a user: they follow the status, and say nothing beside it. */
const NOTES = ['managed_by', 'blocked_by'];

/** What a row changes, as people think of it. */
export function changesOf({ changes }: Pick<Row, 'changes'>): Row['changes'] {
  const named = changes.filter(({ field }) => !NOTES.includes(field));
  return named.length > 0 ? named : changes;
}

/** What rows became of a run; a summary of a run has it too. */
export type Counted = Pick<Run, 'counts' | 'missing'>;

/** Outcome → rows, of those that there are. */
export const countsOf = (run: Counted): [outcome: Outcome, rows: number][] =>
  OUTCOMES.map((outcome): [Outcome, number] => [outcome, countOf(run, outcome)]).filter(
    ([, rows]) => rows > 0,
  );

export function countOf({ counts, missing }: Counted, outcome: Outcome): number {
  if (outcome === 'missing') return missing.reported;
  return counts?.[outcome] ?? 0;
}

/** What a run is called: a revert has the file of the run that it undoes. */
export const titleOf = ({ reverts, file }: Pick<Run, 'reverts' | 'file'>): string =>
  reverts ? `Revert of ${file.name}` : file.name;

/** Users that a run blocks: those whose row says so, and those whom the file lacks. */
export const blockedBy = (run: Counted): number => countOf(run, 'blocked') + run.missing.blocked;

/** Users that a run changes or has changed. */
export const changedBy = (run: Counted): number =>
  blockedBy(run) + countOf(run, 'created') + countOf(run, 'updated') + countOf(run, 'reactivated');

/** An outcome for people. Users whom the file lacks are left alone, or blocked. */
export function outcomeText(run: Counted, outcome: Outcome, isPlan = false): string {
  if (outcome !== 'missing' || run.missing.blocked === 0) return words(outcome);
  return isPlan ? 'Missing, to be blocked' : 'Missing, blocked';
}

/** Seconds that a run has taken; undefined until it has ended, and where it has waited for somebody. */
export const secondsOf = ({ started, finished, approved_by: approver }: Run): number | undefined =>
  started && finished && !approver ? (Date.parse(finished) - Date.parse(started)) / 1000 : undefined;
