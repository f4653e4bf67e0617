import { type ListPage, type Outcome, type Row, type Run, api, loadPage, unwrap } from '../../api/client.js';
import { formatCode, formatCount, formatNumber, formatValue, getLabel } from '../../lib/text.js';
import { readFilters } from '../../parts/filters.js';
import type { Tone } from '../../parts/pill.js';
import { searchUsers } from '../users/search.js';

/** Tones of the outcomes, in the order in which they are shown. */
export const OUTCOME_TONES: Record<Outcome, Tone> = {
  created: 'good',
  updated: 'busy',
  reactivated: 'good',
  blocked: 'warn',
  deleted: 'warn',
  restored: 'good',
  unchanged: 'quiet',
  skipped: 'quiet',
  error: 'bad',
  missing: 'warn',
};
const OUTCOMES = Object.keys(OUTCOME_TONES) as Outcome[];

/** Filter value for all states that wait for a decision. */
export const WAITING = 'waiting';
const UNDECIDED: Run['state'][] = ['needs_approval', 'planned'];

/** Returns true if a run waits for a decision. */
export const isWaiting = ({ state }: Run): boolean => UNDECIDED.includes(state);

const RUNS_PER_PAGE = 25;
const ROWS_PER_PAGE = 50;

/** Filters of runs, with the names of the API. */
export const FILTERS = ['state', 'dataset', 'profile', 'actor', 'created_since', 'created_until'] as const;

/** Loads a page of runs, newest first. The query parameter `after` contains the offset. */
export async function loadRuns(query: URLSearchParams, signal: AbortSignal): Promise<ListPage<Run>> {
  const offset = Number(query.get('after') ?? 0);
  const { filters, unknown } = await readFilters(query, FILTERS, signal);
  if (unknown) return { count: 0, rows: [], next: '', unknown };
  const { state, ...others } = filters;
  const states = state && { state: state === WAITING ? UNDECIDED : [state as Run['state']] };
  const params = { query: { offset, limit: RUNS_PER_PAGE, ...others, ...states } };
  return loadPage(api.GET('/api/0.3/imports', { params, signal }), offset);
}

export async function loadRun(id: string, signal: AbortSignal): Promise<Run> {
  const params = { path: { import_id: id } };
  return (await unwrap(api.GET('/api/0.3/imports/{import_id}', { params, signal }))).data;
}

/** Maximum number of external ids in a request. */
const MAX_IDS = 100;
/** Maximum number of users whose rows a search shows. */
const MAX_FOUND_USERS = 50;

/** Loads the row of a run with an external id. */
export async function loadRow(id: string, externalId: string, signal: AbortSignal) {
  const params = { path: { import_id: id }, query: { limit: 1, external_id: [externalId] } };
  return (await unwrap(api.GET('/api/0.3/imports/{import_id}/rows', { params, signal }))).data.Results[0];
}

/** Finds external ids for a search text, which is an external id or part of a user's name. */
async function findExternalIds(text: string, signal: AbortSignal): Promise<string[]> {
  const { rows: users } = await searchUsers(new URLSearchParams({ q: text }), signal, MAX_FOUND_USERS);
  return [...new Set([text, ...users.map((user) => user.external_id)])].filter((id) => id !== '');
}

/** Filter of the rows of a run, from the URL. */
export interface RowFilter {
  outcome: string;
  /** An external id or part of a user's name. Empty for all rows. */
  person: string;
  /** An error code. Missing or empty for all rows. */
  code?: string;
  after: string;
}

export async function loadRows(
  id: string,
  { outcome, person, code, after }: RowFilter,
  signal: AbortSignal,
  limit = ROWS_PER_PAGE,
) {
  const chosen = OUTCOMES.filter((each) => each === outcome);
  const query = {
    limit,
    ...(chosen.length > 0 && { outcome: chosen }),
    ...(person && { external_id: await findExternalIds(person, signal) }),
    ...(code && { code }),
    ...(after && { after }),
  };
  const params = { path: { import_id: id }, query };
  return loadPage(api.GET('/api/0.3/imports/{import_id}/rows', { params, signal }));
}

/** Maximum rows that are grouped together. */
const MAX_GROUPED_ROWS = 500;

/** Loads several pages of rows as one page. */
export async function loadManyRows(id: string, filter: RowFilter, signal: AbortSignal) {
  const rows: Row[] = [];
  let { after } = filter;
  for (;;) {
    const page = await loadRows(id, { ...filter, after }, signal, MAX_IDS);
    rows.push(...page.rows);
    if (!page.next || rows.length >= MAX_GROUPED_ROWS) return { ...page, rows };
    after = page.next;
  }
}

/** Internal fields that only follow a change of the status. */
const INTERNAL_FIELDS = ['managed_by', 'blocked_by'];

/** Returns the changes of a row without internal fields, unless there are no others. */
export function getVisibleChanges({ changes }: Pick<Row, 'changes'>): Row['changes'] {
  const named = changes.filter(({ field }) => !INTERNAL_FIELDS.includes(field));
  return named.length > 0 ? named : changes;
}

/** The counts of a run. A run summary contains them too. */
export type RunCounts = Pick<Run, 'counts' | 'missing' | 'applied'>;

/** Lists the outcomes that occur in a run, with their numbers of rows. */
export const listOutcomes = (run: RunCounts): [outcome: Outcome, rows: number][] =>
  OUTCOMES.map((outcome): [Outcome, number] => [outcome, getCount(run, outcome)]).filter(
    ([, rows]) => rows > 0,
  );

export function getCount({ counts, missing }: RunCounts, outcome: Outcome): number {
  if (outcome === 'missing') return missing.reported;
  return counts?.[outcome] ?? 0;
}

/** Returns the title of a run. A revert has the title of the reverted run. */
export function getTitle(
  run: RunCounts & Pick<Run, 'reverts' | 'file'> & Partial<Pick<Run, 'change' | 'progress'>>,
): string {
  const { reverts, file, change } = run;
  const title = change ? formatBulkChange(change, reverts ? 'users' : formatUsers(run)) : file.name;
  return reverts ? `Revert of ${title}` : title;
}

/** Formats the number of users that a bulk change affects: "17 of 20 users". Before they are counted: "20 users". */
function formatUsers(run: RunCounts & Partial<Pick<Run, 'progress'>>): string {
  const { rows_total: total = null, rows_done: done = 0 } = run.progress ?? {};
  if (total === null) return 'users';
  const changed = done < total ? total : countChanged(run);
  return `${changed < total ? `${formatNumber(changed)} of ` : ''}${formatCount(total, 'user')}`;
}

/** Formats a bulk change: "Bulk change: block 20 users". */
function formatBulkChange(change: NonNullable<Run['change']>, users: string): string {
  const actions = Object.entries(change).map(([field, value]) => {
    const text = formatValue(value);
    if (field === 'delete') return 'delete';
    if (field === 'status') return text.toLowerCase() === 'blocked' ? 'block' : 'reactivate';
    if (field === 'add_roles') return `add ${text} to`;
    if (field === 'remove_roles') return `remove ${text} from`;
    return field === 'dataset' ? 'set the data set of' : `change ${getLabel(field).toLowerCase()} of`;
  });
  return `Bulk change: ${actions.join(', ')} ${users}`;
}

/** Returns the number of users that a run blocks, including users missing from the file. */
export const countBlocked = (run: RunCounts): number => getCount(run, 'blocked') + run.missing.blocked;

/** Returns the number of users that a run changes. */
export const countChanged = (run: RunCounts): number =>
  CHANGING.reduce((sum, outcome) => sum + getCount(run, outcome), countBlocked(run));
const CHANGING = ['created', 'updated', 'reactivated', 'deleted', 'restored'] as const;

/** Formats an outcome, or the expected outcome of a plan that was not applied. Missing users may be reported only, or blocked. */
export function formatOutcome({ applied, missing }: RunCounts, outcome: Outcome): string {
  if (outcome === 'missing' && missing.blocked > 0)
    return applied ? 'Missing and blocked' : 'Missing, would be blocked';
  const isChange = outcome === 'blocked' || CHANGING.some((each) => each === outcome);
  return isChange && !applied ? `Would be ${outcome}` : formatCode(outcome);
}
