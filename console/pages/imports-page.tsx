import type { Run } from '../api/client.js';
import { isWorking, useRunEvents } from '../api/events.js';
import { useEvery, useResource } from '../api/resource.js';
import { href, setQuery, usePlace } from '../lib/place.js';
import { number, words } from '../lib/text.js';
import { duration } from '../lib/time.js';
import { SelectField } from '../parts/field.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { StatePill } from '../parts/pill.js';
import { ProblemNote } from '../parts/problem-note.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { Bar } from './import/bar.js';
import { Progress } from './import/progress.js';
import { WAITING, loadRuns, secondsOf, titleOf } from './import/runs.js';

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

/** Interval, in milliseconds, at which the list is reloaded to show new runs. */
const LOOK_MILLIS = 15_000;

const COLUMNS: readonly Column<Run>[] = [
  {
    name: 'file',
    title: 'File',
    cell: (run) => (
      <span>
        <a href={href(`/imports/${run.id}`)}>{titleOf(run)}</a>
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
            <a class="small" href={href(`/imports/${run.reverted_by}`)}>
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
    cell: (run) => (isWorking(run) ? <Progress run={run} /> : <Bar run={run} />),
  },
  {
    name: 'rows',
    title: 'Rows',
    isNumber: true,
    cell: ({ progress }) => (progress.rows_total === null ? '' : number(progress.rows_total)),
  },
  { name: 'created', title: 'Received', cell: (run) => <Time at={run.created} /> },
  {
    name: 'duration',
    title: 'Duration',
    isNumber: true,
    cell: (run) => {
      const seconds = secondsOf(run);
      return seconds === undefined ? '' : <span class="cut">{duration(seconds)}</span>;
    },
  },
];

/** The list of import runs with live progress. */
export function ImportsPage() {
  const { query } = usePlace();
  const { data, problem, isLoading, set, reload } = useResource(query.toString(), (signal) =>
    loadRuns(query, signal),
  );
  const runs = data?.runs ?? [];
  useRunEvents(runs, (run) => {
    if (data) set({ ...data, runs: runs.map((each) => (each.id === run.id ? run : each)) });
  });
  useEvery(LOOK_MILLIS, reload);
  return (
    <Page
      title="Imports"
      actions={
        <a class="button primary" href={href('/imports/new')}>
          New import
        </a>
      }
    >
      <div class="toolbar">
        <SelectField
          name="state"
          value={query.get('state') ?? ''}
          onValue={(state) => {
            setQuery({ state, after: undefined });
          }}
          choices={[
            { value: '', text: 'Any' },
            { value: WAITING, text: 'Waiting for a decision' },
            ...STATES.map((state) => ({ value: state, text: words(state) })),
          ]}
        />
      </div>
      <ProblemNote problem={problem} />
      <Table
        caption="Imports"
        columns={COLUMNS}
        rows={runs}
        keyOf={({ id }) => id}
        isLoading={isLoading && !data}
        isUnknown={problem !== undefined && !data}
        empty={query.get('state') ? 'No imports have this state.' : 'No file has been imported yet.'}
      />
      <Pager count={data?.count} shown={runs.length} unit={['import', 'imports']} next={data?.next ?? ''} />
    </Page>
  );
}
