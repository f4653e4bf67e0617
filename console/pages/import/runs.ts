import { type Outcome, type Run, api, ask, nextOf } from '../../api/client.js';

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
      ...(state && { state: [state as Run['state']] }),
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

/** Users that a run changes or has changed. */
export const changedBy = (run: Run): number =>
  (['created', 'updated', 'reactivated', 'blocked'] as const).reduce(
    (sum, outcome) => sum + countOf(run, outcome),
    0,
  );

/** Seconds that a run has taken; undefined until it has ended. */
export const secondsOf = ({ started, finished }: Run): number | undefined =>
  started && finished ? (Date.parse(finished) - Date.parse(started)) / 1000 : undefined;
