import type { ComponentChildren } from 'preact';
import type { Run } from '../../api/client.js';
import { useInterval, useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { formatCount, formatNumber } from '../../lib/text.js';
import { Card, Page } from '../../parts/page.js';
import { StatePill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Bar } from '../import/bar.js';
import { WAITING, getTitle } from '../import/runs.js';
import { type Overview, type Statistics, loadOverview } from './home.js';
import { Plot, type Series } from './plot.js';

const CHANGES: Series = [
  { name: 'created', text: 'Created', tone: 'created' },
  { name: 'updated', text: 'Updated', tone: 'updated' },
];
const BLOCKS: Series = [
  { name: 'reactivated', text: 'Reactivated', tone: 'created' },
  { name: 'blocked', text: 'Blocked', tone: 'blocked' },
  { name: 'deleted', text: 'Deleted', tone: 'error' },
];
const IMPORTS: Series = [
  { name: 'imports_completed', text: 'Completed with changes', tone: 'created' },
  { name: 'imports_superseded', text: 'Superseded', tone: 'updated' },
  { name: 'imports_rejected', text: 'Rejected', tone: 'blocked' },
  { name: 'imports_failed', text: 'Failed', tone: 'error' },
];

const RELOAD_MILLIS = 15_000;

/** The overview: users, waiting imports, recent activity and expiring keys. */
export function HomePage() {
  const { data, problem, reload } = useResource('home', loadOverview);
  useInterval(RELOAD_MILLIS, reload);
  return (
    <Page title="Home" lead={data && formatSummary(data.statistics)}>
      <div class="stack">
        <ProblemNote problem={problem} />
        {data ? <Content overview={data} /> : !problem && <p class="muted">Loading…</p>}
      </div>
    </Page>
  );
}

const subtractDay = (time: string): string => new Date(Date.parse(time) - 86_400_000).toISOString();

const countWaiting = ({ imports }: Statistics): number => imports.needs_approval + imports.planned;

/** Summarizes the pending work in a sentence. */
function formatSummary(statistics: Statistics): string {
  const { imports, api_keys: keys } = statistics;
  const waiting = countWaiting(statistics);
  const [ending, blown] = [keys.expiring.length, keys.fuses_blown];
  const parts = [
    ...(imports.overdue === true ? ['imports are overdue'] : []),
    ...(waiting > 0
      ? [`${formatCount(waiting, 'import')} ${waiting === 1 ? 'is' : 'are'} waiting for a decision`]
      : []),
    ...(blown > 0
      ? [`${formatCount(blown, 'key')} ${blown === 1 ? 'was' : 'were'} stopped after blocking too many users`]
      : []),
    ...(ending > 0 ? [`${formatCount(ending, 'key')} ${ending === 1 ? 'expires' : 'expire'} soon`] : []),
  ];
  const text = parts.join(', ');
  return text === ''
    ? 'Everything is in order. Nothing needs your attention.'
    : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function Content({ overview: { statistics, waiting } }: { overview: Overview }) {
  const { users, imports, api_keys: keys, failed_logins: failed, days } = statistics;
  const waits = countWaiting(statistics);
  return (
    <>
      <ul class="numbers">
        <StatisticLink value={users.active} text="active users" to={toHref('/users', { status: 'Active' })} />
        <StatisticLink
          value={users.blocked}
          text="blocked users"
          to={toHref('/users', { status: 'Blocked' })}
        />
        <StatisticLink
          value={waits}
          text={waits === 1 ? 'waiting import' : 'waiting imports'}
          to={toHref('/imports', { state: WAITING })}
          isBad={waits > 0}
        />
        <StatisticLink
          value={failed.last_24_hours}
          more={!failed.exact}
          text={failed.last_24_hours === 1 ? 'failed sign-in in 24 hours' : 'failed sign-ins in 24 hours'}
          to={toHref('/audit', { action: 'session.login_failed', since: subtractDay(statistics.time) })}
        />
      </ul>
      {waiting.length > 0 && (
        <Card title="Waiting for a decision" isFlush>
          <Runs
            caption="Waiting imports"
            runs={waiting.map((run) => ({ dataset: run.options.dataset, run }))}
          />
        </Card>
      )}
      <div class="plots">
        <Card title="Changes to users">
          <Plot title="Changes to users" days={days} series={CHANGES} />
        </Card>
        <Card title="Status changes">
          <Plot title="Status changes" days={days} series={BLOCKS} />
        </Card>
        <Card title="Imports">
          <Plot title="Imports" days={days} series={IMPORTS} />
        </Card>
      </div>
      <Card title="Last import of each data set" isFlush>
        <Runs
          caption="Last imports"
          runs={imports.datasets.map(({ dataset, last_run: run }) => ({ dataset, run }))}
        />
      </Card>
      {keys.expiring.length > 0 && (
        <Card title="Keys expiring soon">
          <ul class="stack">
            {keys.expiring.map(({ id, name, expires }) => (
              <li key={id}>
                <a href={toHref('/keys')}>{name}</a> expires <Time at={expires} />.
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function StatisticLink(props: {
  value: number;
  /** True if the value is a lower bound. */
  more?: boolean;
  text: string;
  to: string;
  isBad?: boolean;
}): ComponentChildren {
  const { value, more = false, text, to, isBad = false } = props;
  return (
    <li>
      <a href={to} class={isBad ? 'warn' : ''}>
        <strong>
          {formatNumber(value)}
          {more && '+'}
        </strong>
        <span>{text}</span>
      </a>
    </li>
  );
}

type RunSummary = Pick<Run, 'id' | 'file' | 'reverts' | 'state' | 'created' | 'counts' | 'missing'>;

const Runs = ({ caption, runs }: { caption: string; runs: { dataset: string; run: RunSummary }[] }) => (
  <Table
    caption={caption}
    rows={runs}
    getKey={({ run }) => run.id}
    empty="No file has been imported yet."
    columns={[
      { name: 'dataset', title: 'Data set', cell: ({ dataset }) => dataset },
      {
        name: 'file',
        title: 'File',
        cell: ({ run }) => <a href={toHref(`/imports/${run.id}`)}>{getTitle(run)}</a>,
      },
      { name: 'state', title: 'State', cell: ({ run }) => <StatePill state={run.state} /> },
      { name: 'outcome', title: 'Outcome', cell: ({ run }) => <Bar run={run} /> },
      { name: 'created', title: 'Received', cell: ({ run }) => <Time at={run.created} /> },
    ]}
  />
);
