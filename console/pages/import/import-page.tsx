import { useEffect, useRef } from 'preact/hooks';
import type { Run, User } from '../../api/client.js';
import { isWorking, useRunEvents } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { getOptionName, formatOptionValue } from '../../api/options.js';
import { formatCount, getLabel, formatSize, formatCode, formatValue } from '../../lib/text.js';
import { formatDuration } from '../../lib/time.js';
import { Copy } from '../../parts/copy.js';
import { Icon } from '../../parts/icon.js';
import { Card, FactList, Page } from '../../parts/page.js';
import { StatePill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { ActorName } from '../../parts/actor-name.js';
import { PlanTime } from '../../parts/user-link.js';
import { toProfileHref } from '../profiles/profiles.js';
import { Actions } from './actions.js';
import { Bar, Legend } from './bar.js';
import { Decisions } from './decisions.js';
import { Failures } from './failures.js';
import { Guards } from './guards.js';
import { Progress } from './progress.js';
import { Rows } from './rows.js';
import { countChanged, getCount, listOutcomes, isWaiting, loadRun, getTitle } from './runs.js';

/** The page of a run: its progress, outcome, tripped guards and rows. */
export function ImportPage({ params }: { user: User; params: Record<string, string> }) {
  const id = params['id'] ?? '';
  const { data: run, problem, set, reload } = useResource(id, (signal) => loadRun(id, signal));
  useRunEvents(run ? [run] : [], set);
  useEndToast(run);
  if (!run) return <Page title={problem ? 'Import' : 'Loading…'}>{<ProblemNote problem={problem} />}</Page>;
  const unchanged = getCount(run, 'unchanged');
  return (
    <Page
      title={getTitle(run)}
      titleBadge={<StatePill state={run.state} />}
      lead={
        <>
          {run.dry_run && 'Dry run · '}
          {run.corrects && (
            <>
              Corrects <RunLink id={run.corrects} /> ·{' '}
            </>
          )}
          {run.change ? `Reason: ${run.reason ?? ''}` : `Data set ${run.options.dataset}`} ·{' '}
          {run.profile && (
            <>
              profile <a href={toProfileHref(run.profile)}>{run.profile}</a> ·{' '}
            </>
          )}
          received <Time at={run.created} />
          {run.duration_seconds !== null && ` · took ${formatDuration(run.duration_seconds)}`}
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
              This import was reverted. <a href={toHref(`/imports/${run.reverted_by}`)}>Show the revert</a>.
            </span>
          </p>
        )}
        {(isWorking(run) || listOutcomes(run).length > 0) && (
          <Card title={getCountsTitle(run)}>
            {isWorking(run) ? <Progress run={run} /> : <Bar run={run} isLabelled={false} />}
            <Legend run={run} />
            {unchanged > 0 && <p class="small muted">{formatUnchanged(unchanged)}</p>}
          </Card>
        )}
        <PlanTime.Provider value={isWaiting(run) ? run.created : ''}>
          <Guards run={run} />
          <Failure run={run} />
          <Failures run={run} />
          <Rows run={run} />
        </PlanTime.Provider>
        <Decisions run={run} />
        <Details run={run} />
      </div>
    </Page>
  );
}

/** Explains why no list shows the unchanged users. The service does not store their rows. */
const formatUnchanged = (users: number): string =>
  `${formatCount(users, 'user')} already had these values. Unchanged users are counted, but not listed.`;

/** Returns the title of the counts. The counts of a plan that was not applied stay. */
function getCountsTitle(run: Run): string {
  if (isWaiting(run)) return 'Planned changes';
  const isDropped = run.finished !== null && !run.applied && countChanged(run) > 0;
  return isDropped ? 'Changes that were not applied' : 'Outcome';
}

/** Options that the page header already shows. */
const IN_HEADER = ['dataset', 'dry_run', 'corrects'];

/** Shows a message when the displayed run ends or needs a decision. */
function useEndToast(run: Run | undefined): void {
  const wasWorking = useRef(false);
  useEffect(() => {
    if (!run) return;
    if (wasWorking.current && !isWorking(run))
      showToast(`${getTitle(run)}: ${formatCode(run.state).toLowerCase()}.`);
    wasWorking.current = isWorking(run);
  }, [run]);
}

/** Shows why a run failed or ended early. */
function Failure({ run }: { run: Run }) {
  const isReason = ({ line, external_id: id }: Run['problems'][number]) => line === null && id === '';
  const reasons = run.state === 'failed' ? run.problems : run.problems.filter(isReason);
  if (reasons.length === 0) return null;
  return (
    <Card title="Why it ended">
      <ul class="stack">
        {reasons.map(({ line, field, code, message }, index) => (
          <li key={index}>
            {line !== null && <strong>Line {line}: </strong>}
            {field && `${getLabel(field)} `}
            {message} <code class="muted">{code}</code>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Details({ run }: { run: Run }) {
  const isFile = !run.reverts && !run.change;
  const isShown = (name: string) => (isFile ? !IN_HEADER.includes(name) : name === 'allow_privileged');
  const options = Object.entries(run.options).filter(
    ([name, value]) => isShown(name) && value !== false && value !== 'none',
  );
  return (
    <Card title="Details">
      <FactList
        facts={[
          ['Search', run.where && formatValue(run.where)],
          ['File', isFile && `${run.file.name}, ${formatSize(run.file.size)}`],
          [
            'Rows',
            run.progress.rows_total === null ? 'unknown' : formatCount(run.progress.rows_total, 'row'),
          ],
          ['Started by', <Actor key="" actor={run.actor} />],
          ['Approved by', run.approved_by && <Actor key="" actor={run.approved_by} />],
          ['Reverts', run.reverts && <RunLink key="" id={run.reverts} />],
          ...options.map(([name, value]) => [getOptionName(name), formatOptionValue(name, value)] as const),
          ['SHA-256', isFile && <Copy key="" text={run.file.sha256} what="checksum" />],
          ['ID', <Copy key="" text={run.id} what="id" />],
        ]}
      />
    </Card>
  );
}

/** Shows the title of a run as a link. */
function RunLink({ id }: { id: string }) {
  const { data } = useResource(id, (signal) => loadRun(id, signal));
  return <a href={toHref(`/imports/${id}`)}>{data ? getTitle(data) : 'an earlier import'}</a>;
}

const KINDS = { key: 'an API key', user: 'a user', system: 'the command line' } as const;

/** Shows an actor. Only commands and the schedule have no id, and only the schedule has an empty address. */
function Actor({ actor }: { actor: NonNullable<Run['approved_by']> & { address?: string } }) {
  const { kind, name, address } = actor;
  const known = kind === 'system' && address !== undefined ? address || 'the schedule' : KINDS[kind];
  return <ActorName actor={{ ...actor, name: name || known }} />;
}
