import { useInterval, useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { formatCount, formatNumber } from '../../lib/text.js';
import { Card, Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { RunsCard } from '../import/runs-card.js';
import { WAITING } from '../import/runs.js';
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
  const { users, imports, api_keys: keys } = statistics;
  const waiting = countWaiting(statistics);
  const [ending, blown] = [keys.expiring.length, keys.fuses_blown];
  const parts = [
    imports.overdue === true && 'imports are overdue',
    waiting > 0 && `${formatCount(waiting, 'import is', 'imports are')} waiting for a decision`,
    blown > 0 && `${formatCount(blown, 'key was', 'keys were')} stopped after blocking too many users`,
    ending > 0 && `${formatCount(ending, 'key expires', 'keys expire')} soon`,
  ];
  const text = parts.filter(Boolean).join(', ');
  const idleText =
    users.active + users.blocked > 1
      ? 'Everything is in order. Nothing needs your attention.'
      : 'There are no other users yet. Import a file, or create a user.';
  return text === '' ? idleText : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
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
        <RunsCard
          title="Waiting imports"
          runs={waiting.map((run) => ({ dataset: run.options.dataset, last_run: run }))}
        />
      )}
      <div class="plots">
        <Plot title="Changes to users" days={days} series={CHANGES} />
        <Plot title="Status changes" days={days} series={BLOCKS} />
        <Plot title="Imports" days={days} series={IMPORTS} />
      </div>
      <RunsCard
        title="Last import of each data set"
        runs={imports.datasets.map(({ dataset, last_run }) => ({ dataset, last_run }))}
      />
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

interface StatisticProps {
  value: number;
  /** True if the value is a lower bound. */
  more?: boolean;
  text: string;
  to: string;
  isBad?: boolean;
}

const StatisticLink = ({ value, more = false, text, to, isBad = false }: StatisticProps) => (
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
