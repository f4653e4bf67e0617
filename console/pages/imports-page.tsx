import type { Run } from '../api/client.js';
import { isWorking, useRunEvents } from '../api/events.js';
import { useInterval, useResource } from '../api/resource.js';
import { toHref, useUrl } from '../lib/url.js';
import { formatNumber, formatCode } from '../lib/text.js';
import { formatDuration } from '../lib/time.js';
import { SelectField, TextField } from '../parts/field.js';
import { NAME_INPUT, TimeField, createFilter } from '../parts/filters.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { StatePill } from '../parts/pill.js';
import { ProblemNote } from '../parts/problem-note.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { Bar } from './import/bar.js';
import { Progress } from './import/progress.js';
import { FILTERS, WAITING, loadRuns, getTitle } from './import/runs.js';

const STATES: readonly Run['state'][] = [
  'queued',
  'needs_approval',
  'planned',
  'applying',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
  'rejected',
  'superseded',
];

const NO_SPELLING = { spellcheck: false, autocomplete: 'off' } as const;

/** Interval, in milliseconds, at which the list is reloaded to show new runs. */
const RELOAD_MILLIS = 15_000;

const COLUMNS: readonly Column<Run>[] = [
  {
    name: 'file',
    title: 'File',
    cell: (run) => (
      <span>
        <a href={toHref(`/imports/${run.id}`)}>{getTitle(run)}</a>
        <br />
        <span class="muted small">
          {run.options.dataset}
          {run.options.part && ` · ${run.options.part}`}
          {run.dry_run && ' · dry run'}
        </span>
      </span>
    ),
  },
  {
    name: 'state',
    title: 'State',
    cell: (run) => (
      <>
        <StatePill state={run.state} />
        {run.reverted_by && (
          <>
            <br />
            <a class="small" href={toHref(`/imports/${run.reverted_by}`)}>
              reverted
            </a>
          </>
        )}
      </>
    ),
  },
  {
    name: 'outcome',
    title: 'Outcome',
    isExtra: true,
    cell: (run) => (isWorking(run) ? <Progress run={run} /> : <Bar run={run} />),
  },
  {
    name: 'rows',
    title: 'Rows',
    isNumber: true,
    isExtra: true,
    cell: ({ progress }) => (progress.rows_total === null ? '' : formatNumber(progress.rows_total)),
  },
  { name: 'created', title: 'Received', cell: (run) => <Time at={run.created} /> },
  {
    name: 'duration',
    title: 'Duration',
    isNumber: true,
    isExtra: true,
    cell: ({ duration_seconds: seconds }) =>
      seconds !== null && <span class="cut">{formatDuration(seconds)}</span>,
  },
];

/** The list of import runs with live progress. */
export function ImportsPage() {
  const { query } = useUrl();
  const { data, problem, isLoading, set, reload } = useResource(query.toString(), (signal) =>
    loadRuns(query, signal),
  );
  const runs = data?.runs ?? [];
  const filter = createFilter(query, problem, data?.unknown);
  useRunEvents(runs, (run) => {
    if (data) set({ ...data, runs: runs.map((each) => (each.id === run.id ? run : each)) });
  });
  useInterval(RELOAD_MILLIS, reload);
  return (
    <Page
      title="Imports"
      actions={
        <a class="button primary" href={toHref('/imports/new')}>
          New import
        </a>
      }
    >
      <div class="toolbar">
        <SelectField
          {...filter('state')}
          choices={[
            { value: '', text: 'Any' },
            { value: WAITING, text: 'Waiting for a decision' },
            ...STATES.map((state) => ({ value: state, text: formatCode(state) })),
          ]}
        />
        <TextField {...filter('dataset')} label="Data set" input={NO_SPELLING} />
        <TextField {...filter('profile')} input={NO_SPELLING} />
        <TextField {...filter('actor')} label="Started by" input={NAME_INPUT} />
        <TimeField {...filter('created_since')} label="Since" />
        <TimeField {...filter('created_until')} label="Before" />
      </div>
      <ProblemNote problem={problem} />
      <Table
        caption="Imports"
        hasCards
        columns={COLUMNS}
        rows={runs}
        getKey={({ id }) => id}
        isLoading={isLoading && !data}
        hasFailed={problem !== undefined && !data}
        empty={
          FILTERS.some((name) => query.has(name))
            ? 'No imports match these filters.'
            : 'No file has been imported yet.'
        }
      />
      <Pager count={data?.count} shown={runs.length} unit={['import', 'imports']} next={data?.next ?? ''} />
    </Page>
  );
}
