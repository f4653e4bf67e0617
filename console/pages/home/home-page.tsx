import type { ComponentChildren } from 'preact';
import { useResource } from '../../api/resource.js';
import { href } from '../../lib/place.js';
import { counted, number } from '../../lib/text.js';
import { Card, Page } from '../../parts/page.js';
import { StatePill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Bar } from '../import/bar.js';
import { daysLeft } from '../keys/keys.js';
import { type Overview, loadOverview } from './home.js';
import { Plot } from './plot.js';

/** Is all well: who there is, what waits, what came last, what will end. */
export function HomePage() {
  const { data, problem } = useResource('home', loadOverview);
  return (
    <Page title="Home" lead={data && summary(data)}>
      <div class="stack">
        <ProblemNote problem={problem} />
        {data ? <Content overview={data} /> : !problem && <p class="muted">Loading …</p>}
      </div>
    </Page>
  );
}

/** What there is to do, in a sentence. */
function summary({ waiting, expiring, status }: Overview): string {
  const parts = [
    ...(status.import_overdue === true ? ['No import has been completed for longer than it should'] : []),
    ...(waiting.length > 0
      ? [`${counted(waiting.length, 'import')} ${waiting.length === 1 ? 'waits' : 'wait'} for you`]
      : []),
    ...(expiring.length > 0
      ? [`${counted(expiring.length, 'key')} ${expiring.length === 1 ? 'ends' : 'end'} soon`]
      : []),
  ];
  return parts.length === 0 ? 'Nothing waits for you.' : `${parts.join(', ')}.`;
}

function Content({ overview }: { overview: Overview }) {
  const { active, blocked, failedLogins, waiting, latest, expiring, days } = overview;
  return (
    <>
      <ul class="numbers">
        <Number value={active} text="active users" to={href('/users', { status: 'Active' })} />
        <Number value={blocked} text="blocked users" to={href('/users', { status: 'Blocked' })} />
        <Number
          value={waiting.length}
          text="imports wait"
          to={href('/imports', { state: 'needs_approval' })}
          isBad={waiting.length > 0}
        />
        <Number
          value={failedLogins}
          text="failed logins in 24 hours"
          to={href('/audit', { action: 'session.login_failed' })}
        />
      </ul>
      {waiting.length > 0 && (
        <Card title="Waits for you" isFlush>
          <Runs caption="Imports that wait" runs={waiting} />
        </Card>
      )}
      <Card title="Changes by imports in the last 30 days">
        <Plot days={days} />
      </Card>
      <Card title="Last import of each data set" isFlush>
        <Runs caption="Last imports" runs={latest} />
      </Card>
      {expiring.length > 0 && (
        <Card title="Keys that end soon">
          <ul class="stack">
            {expiring.map((key) => (
              <li key={key.id}>
                <a href={href('/keys')}>{key.name}</a> ends in {counted(daysLeft(key) ?? 0, 'day')}, last used{' '}
                <Time at={key.last_used} />.
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function Number(props: { value: number; text: string; to: string; isBad?: boolean }): ComponentChildren {
  const { value, text, to, isBad = false } = props;
  return (
    <li>
      <a href={to} class={isBad ? 'warn' : ''}>
        <strong>{number(value)}</strong>
        <span>{text}</span>
      </a>
    </li>
  );
}

const Runs = ({ caption, runs }: { caption: string; runs: Overview['latest'] }) => (
  <Table
    caption={caption}
    rows={runs}
    keyOf={({ id }) => id}
    empty="No file has been imported yet."
    columns={[
      { name: 'dataset', title: 'Data set', cell: (run) => run.options.dataset },
      {
        name: 'file',
        title: 'File',
        cell: (run) => <a href={href(`/imports/${run.id}`)}>{run.file.name}</a>,
      },
      { name: 'state', title: 'State', cell: (run) => <StatePill state={run.state} /> },
      { name: 'outcome', title: 'Outcome', cell: (run) => <Bar run={run} /> },
      { name: 'created', title: 'Received', cell: (run) => <Time at={run.created} /> },
    ]}
  />
);
