import type { Run } from '../api/client.js';
import { isWorking, useRunEvents } from '../api/events.js';
import { useInterval } from '../api/resource.js';
import { toHref } from '../lib/url.js';
import { formatNumber, formatCode } from '../lib/text.js';
import { formatDuration } from '../lib/time.js';
import { LinkButton } from '../parts/button.js';
import { ANY, SelectField, TextField, toChoices } from '../parts/field.js';
import { NAME_INPUT, TimeField, createFilter } from '../parts/filters.js';
import { List, useList } from '../parts/list.js';
import { Page } from '../parts/page.js';
import { STATES, StatePill } from '../parts/pill.js';
import type { Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { Bar } from './import/bar.js';
import { Progress } from './import/progress.js';
import { FILTERS, WAITING, loadRuns, getTitle } from './import/runs.js';

const NO_SPELLING = { spellcheck: false, autocomplete: 'off' } as const;

/** Interval, in milliseconds, at which the list is reloaded to show new runs. */
const RELOAD_MILLIS = 15_000;

const COLUMNS: readonly Column<Run>[] = [
  {
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
  { title: 'Outcome', cell: (run) => (isWorking(run) ? <Progress run={run} /> : <Bar run={run} />) },
  {
    title: 'Rows',
    isNumber: true,
    cell: ({ progress }) => (progress.rows_total === null ? '' : formatNumber(progress.rows_total)),
  },
  { title: 'Received', cell: (run) => <Time at={run.created} /> },
  {
    title: 'Duration',
    isNumber: true,
    cell: ({ duration_seconds: seconds }) =>
      seconds !== null && <span class="cut">{formatDuration(seconds)}</span>,
  },
];

/** The list of import runs with live progress. */
export function ImportsPage() {
  const { query, list } = useList(loadRuns);
  const { data, set } = list;
  const filter = createFilter(query, list);
  useRunEvents(data?.rows ?? [], (run) => {
    if (data) set({ ...data, rows: data.rows.map((each) => (each.id === run.id ? run : each)) });
  });
  useInterval(RELOAD_MILLIS, list.reload);
  return (
    <Page title="Imports" actions={<LinkButton text="New import" isPrimary href={toHref('/imports/new')} />}>
      <div class="toolbar">
        <SelectField
          {...filter('state')}
          choices={[
            ANY,
            { value: WAITING, text: 'Waiting for a decision' },
            ...toChoices(STATES, formatCode),
          ]}
        />
        <TextField {...filter('dataset')} label="Data set" input={NO_SPELLING} />
        <TextField {...filter('profile')} input={NO_SPELLING} />
        <TextField {...filter('actor')} label="Started by" input={NAME_INPUT} />
        <TimeField {...filter('created_since')} label="Since" />
        <TimeField {...filter('created_until')} label="Before" />
      </div>
      <List
        caption="Imports"
        list={list}
        unit="import"
        columns={COLUMNS}
        getKey={({ id }) => id}
        empty={
          FILTERS.some((name) => query.has(name))
            ? 'No imports match these filters.'
            : 'No file has been imported yet.'
        }
      />
    </Page>
  );
}
