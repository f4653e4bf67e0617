import { useState } from 'preact/hooks';
import { type Run, api, unwrap, toReasonHeader } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { navigate, toHref } from '../../lib/url.js';
import { handleStatus } from '../../api/problem.js';
import { formatCode, formatCount, formatNumber } from '../../lib/text.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/dialog.js';
import { countBlocked, countChanged, getCount, isWaiting, getTitle } from './runs.js';

interface RunAction {
  /** Text of the button on the page. */
  text: string;
  confirmLabel?: string;
  kind?: 'primary';
  isDangerous: boolean;
  /** Text about the effect of the action and the number of affected users. */
  explanation: string;
  successText: string;
  path: `/api/0.3/imports/{import_id}/${'apply' | 'reject' | 'cancel' | 'revert'}`;
}

/** Formats planned changes, with blocked users first: "2 users will be blocked, 4 updated. ". */
function formatChanges(parts: readonly [users: number, done: string][]): string {
  const some = parts.filter(([users]) => users > 0);
  const texts = some.map(([users, done], index) =>
    index === 0 ? `${formatCount(users, 'user')} will be ${done}` : `${formatNumber(users)} ${done}`,
  );
  return texts.length > 0 ? `${texts.join(', ')}. ` : 'No users will change. ';
}

const formatPlannedChanges = (run: Run): string =>
  formatChanges(
    (['deleted', 'blocked', 'reactivated', 'restored', 'created', 'updated'] as const).map((outcome) => [
      outcome === 'blocked' ? countBlocked(run) : getCount(run, outcome),
      outcome,
    ]),
  );

/** Formats the changes of a revert. */
const formatRevertedChanges = (run: Run): string =>
  formatChanges([
    [getCount(run, 'created') + getCount(run, 'restored'), 'deleted, or blocked if in use'],
    [getCount(run, 'reactivated'), 'blocked'],
    [countBlocked(run), 'reactivated'],
    [getCount(run, 'deleted'), 'restored'],
    [getCount(run, 'updated'), 'restored to their previous values'],
  ]);

/** Formats the rows that change no user: rows with errors, and unchanged users of a bulk change. */
function formatOthers(run: Run): string {
  const [same, rows] = [run.change ? getCount(run, 'unchanged') : 0, getCount(run, 'error')];
  const failed = run.change
    ? formatCount(rows, 'user cannot be changed and is', 'users cannot be changed and are')
    : `${formatCount(rows, 'row of the file has', 'rows of the file have')} errors and will be`;
  return `${same > 0 ? `${formatCount(same, 'user stays', 'users stay')} the same. ` : ''}${rows > 0 ? `${failed} left out. ` : ''}`;
}

/** Names the guards that the plan has hit. */
function formatHits({ guards }: Run): string {
  const names = [...new Set(guards.filter(({ hit }) => hit).map(({ name }) => formatCode(name)))];
  return names.length > 0 ? `This needs your approval because of: ${names.join(', ')}. ` : '';
}

const createApproval = (run: Run): RunAction => ({
  text: run.state === 'planned' ? 'Apply the plan' : 'Approve',
  confirmLabel: run.state === 'planned' ? 'Apply' : 'Approve',
  kind: 'primary',
  isDangerous: countBlocked(run) + getCount(run, 'deleted') > 0,
  explanation: `${formatPlannedChanges(run)}${formatOthers(run)}${formatHits(run)}A new plan is created first. If it differs from this plan, nothing is changed.`,
  successText: 'The import is being applied.',
  path: '/api/0.3/imports/{import_id}/apply',
});

const createRejection = (run: Run): RunAction => ({
  text: 'Reject',
  isDangerous: true,
  explanation: `The plan will not be applied. It would affect ${formatCount(countChanged(run), 'user')}.`,
  successText: 'The import was rejected.',
  path: '/api/0.3/imports/{import_id}/reject',
});

const createCancellation = (run: Run): RunAction => ({
  text: 'Stop',
  isDangerous: true,
  explanation: `The import stops after the current batch. About ${formatCount(run.progress.rows_done, 'row')} ${run.progress.rows_done === 1 ? 'has' : 'have'} been processed so far. Changes that are already applied are kept and can be reverted.`,
  successText: 'The import is stopping.',
  path: '/api/0.3/imports/{import_id}/cancel',
});

const createRevert = (run: Run): RunAction => ({
  text: 'Revert',
  isDangerous: true,
  explanation: `A new run reverts this import. ${formatRevertedChanges(run)}Values that have changed since then are kept and listed as conflicts.`,
  successText: 'The revert has started.',
  path: '/api/0.3/imports/{import_id}/revert',
});

/** Lists the actions that the state of a run allows. */
function listActions(run: Run): RunAction[] {
  if (isWorking(run)) return [createCancellation(run)];
  if (isWaiting(run)) return [createRejection(run), createApproval(run)];
  return run.applied && run.reverted_by === null ? [createRevert(run)] : [];
}

/** Buttons for the actions that the state of a run allows, each with a confirmation. */
export function Actions({ run, onChange }: { run: Run; onChange: () => void }) {
  // The action stays open if the state changes meanwhile, so that the confirmation can show the problem.
  const [open, setOpen] = useState<RunAction>();
  return (
    <div class={`buttons${isWaiting(run) ? ' decision' : ''}`}>
      {listActions(run).map((action) => (
        <Button key={action.text} text={action.text} kind={action.kind} onClick={() => setOpen(action)} />
      ))}
      {open && (
        <Confirm
          title={`${open.confirmLabel ?? open.text} ${getTitle(run)}`}
          confirmLabel={open.confirmLabel ?? open.text}
          isDangerous={open.isDangerous}
          successText={open.successText}
          onClose={() => setOpen(undefined)}
          work={async (reason) => {
            const params = { path: { import_id: run.id } };
            const call = api.POST(open.path, { params, ...toReasonHeader(reason) });
            // If someone else has decided meanwhile, the run is loaded again.
            const { data } = await unwrap(call).catch(handleStatus(409, onChange));
            if (data.id === run.id) onChange();
            else navigate(toHref(`/imports/${data.id}`));
          }}
        >
          <p>{open.explanation}</p>
        </Confirm>
      )}
    </div>
  );
}
