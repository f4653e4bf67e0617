import { type Outcome, type Run, api, ask, nextOf } from '../../api/client.js';
import { words } from '../../lib/text.js';

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

export async function loadRows(id: string, outcome: string, after: string, signal: AbortSignal) {
  const chosen = OUTCOMES.filter((each) => each === outcome);
  const query = { limit: ROWS, ...(chosen.length > 0 && { outcome: chosen }), ...(after && { after }) };
  const call = api.GET('/api/0.3/imports/{import_id}/rows', {
    params: { path: { import_id: id }, query },
    signal,
  });
  const { data, headers } = await ask(call);
  return { count: data.Count, rows: data.Results, next: nextOf(headers) };
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
