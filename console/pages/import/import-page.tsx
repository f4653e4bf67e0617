import { useEffect, useRef } from 'preact/hooks';
import type { Run, User } from '../../api/client.js';
import { isWorking, useRunEvents } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { href } from '../../lib/place.js';
import { optionName, optionText } from '../../api/options.js';
import { counted, label, size, words } from '../../lib/text.js';
import { duration } from '../../lib/time.js';
import { Copy } from '../../parts/copy.js';
import { Icon } from '../../parts/icon.js';
import { Card, Page } from '../../parts/page.js';
import { Person } from '../../parts/person.js';
import { StatePill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { say } from '../../parts/toast.js';
import { Actions } from './actions.js';
import { Bar, Legend } from './bar.js';
import { Decisions } from './decisions.js';
import { Guards } from './guards.js';
import { Progress } from './progress.js';
import { Rows } from './rows.js';
import { countsOf, isWaiting, loadRun, secondsOf, titleOf } from './runs.js';

/** The page of a run: its progress, outcome, tripped guards and rows. */
export function ImportPage({ params }: { user: User; params: Record<string, string> }) {
  const id = params['id'] ?? '';
  const { data: run, problem, set, reload } = useResource(id, (signal) => loadRun(id, signal));
  useRunEvents(run ? [run] : [], set);
  useEndOf(run);
  if (!run) return <Page title={problem ? 'Import' : 'Loading …'}>{<ProblemNote problem={problem} />}</Page>;
  const seconds = secondsOf(run);
  return (
    <Page
      title={titleOf(run)}
      beside={<StatePill state={run.state} />}
      lead={
        <>
          {run.dry_run && 'Dry run · '}Data set {run.options.dataset} · received <Time at={run.created} />
          {seconds !== undefined && ` · took ${duration(seconds)}`}
        </>
      }
      actions={<Actions run={run} onChange={reload} />}
    >
      <div class="stack">
        <ProblemNote problem={problem} />
        {run.reverted_by && (
          <p class="note info">
            <Icon name="undo" />
            <span>
              This import was reverted. <a href={href(`/imports/${run.reverted_by}`)}>Show the revert</a>.
            </span>
          </p>
        )}
        {(isWorking(run) || countsOf(run).length > 0) && (
          <Card title={isWaiting(run) ? 'Planned changes' : 'Outcome'}>
            {isWorking(run) ? <Progress run={run} /> : <Bar run={run} isLabelled={false} />}
            <Legend run={run} isPlan={isWaiting(run)} />
          </Card>
        )}
        <Guards run={run} />
        <Refusal run={run} />
        <Rows run={run} isPlan={isWaiting(run)} />
        <Decisions run={run} />
        <Details run={run} />
      </div>
    </Page>
  );
}

/** Options that the page header already shows. */
const SAID = ['dataset', 'dry_run'];

/** Shows a message when the displayed run ends or needs a decision. */
function useEndOf(run: Run | undefined): void {
  const wasWorking = useRef(false);
  useEffect(() => {
    if (!run) return;
    if (wasWorking.current && !isWorking(run)) say(`${titleOf(run)}: ${words(run.state).toLowerCase()}.`);
    wasWorking.current = isWorking(run);
  }, [run]);
}

/** Shows why a run failed. */
function Refusal({ run }: { run: Run }) {
  if (run.state !== 'failed' || run.problems.length === 0) return null;
  return (
    <Card title="Why it failed">
      <ul class="stack">
        {run.problems.map(({ line, field, code, message }, index) => (
          <li key={index}>
            {line !== null && <strong>Line {line}: </strong>}
            {field && `${label(field)} `}
            {message} <code class="muted">{code}</code>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Details({ run }: { run: Run }) {
  const options = Object.entries(run.options).filter(
    ([name, value]) => !SAID.includes(name) && value !== false && value !== 'none',
  );
  const facts: [string, preact.ComponentChildren][] = [
    ...(run.reverts
      ? []
      : [['File', `${run.file.name}, ${size(run.file.size)}`] as [string, preact.ComponentChildren]]),
    ['Rows', run.progress.rows_total === null ? 'unknown' : counted(run.progress.rows_total, 'row')],
    ['Started by', <Actor key="" actor={run.actor} />],
    ...(run.approved_by
      ? [['Approved by', <Actor key="" actor={run.approved_by} />] as [string, preact.ComponentChildren]]
      : []),
    ...(run.profile ? [['Profile', run.profile] as [string, preact.ComponentChildren]] : []),
    ...(run.reverts
      ? [
          ['Reverts', <a href={href(`/imports/${run.reverts}`)}>the import of {run.file.name}</a>] as [
            string,
            preact.ComponentChildren,
          ],
        ]
      : []),
    ...options.map(([name, value]): [string, preact.ComponentChildren] => [
      optionName(name),
      optionText(name, value),
    ]),
    ...(run.reverts
      ? []
      : [['SHA-256', <Copy text={run.file.sha256} what="checksum" />] as [string, preact.ComponentChildren]]),
    ['ID', <Copy text={run.id} what="id" />],
  ];
  return (
    <Card title="Details">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

const KINDS = { key: 'an API key', user: 'a user', system: 'the schedule' } as const;

function Actor({ actor: { kind, id } }: { actor: Run['actor'] }) {
  if (kind === 'user' && id) return <Person id={id} />;
  return <span title={id ?? ''}>{KINDS[kind]}</span>;
}
