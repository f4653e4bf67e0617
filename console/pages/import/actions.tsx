import { useState } from 'preact/hooks';
import { type Run, api, ask, because } from '../../api/client.js';
import { go, href } from '../../lib/place.js';
import { Problem } from '../../api/problem.js';
import { counted, number } from '../../lib/text.js';
import { Confirm } from '../../parts/dialog.js';
import { say } from '../../parts/toast.js';
import { blockedBy, changedBy, countOf, isWaiting, titleOf } from './runs.js';

interface Action {
  verb: string;
  /** Label of the button on the page. */
  text: string;
  kind: 'primary' | 'danger' | '';
  /** Text about the effect of the action and the number of affected users. */
  says: string;
  done: string;
  send: (id: string, reason: string) => Promise<{ data: Run }>;
}

const of = (id: string, reason: string) => ({ params: { path: { import_id: id } }, ...because(reason) });

/** Formats planned changes, with blocked users first: "2 users will be blocked, 4 updated. ". */
function sentence(parts: readonly [users: number, done: string][]): string {
  const some = parts.filter(([users]) => users > 0);
  const texts = some.map(([users, done], index) =>
    index === 0 ? `${counted(users, 'user')} will be ${done}` : `${number(users)} ${done}`,
  );
  return texts.length > 0 ? `${texts.join(', ')}. ` : 'No users will change. ';
}

const changes = (run: Run): string =>
  sentence([
    [blockedBy(run), 'blocked'],
    [countOf(run, 'reactivated'), 'reactivated'],
    [countOf(run, 'created'), 'created'],
    [countOf(run, 'updated'), 'updated'],
  ]);

/** Formats the changes of a revert. */
const undone = (run: Run): string =>
  sentence([
    [countOf(run, 'created') + countOf(run, 'reactivated'), 'blocked'],
    [blockedBy(run), 'reactivated'],
    [countOf(run, 'updated'), 'restored to their previous values'],
  ]);

const failures = (run: Run): string => {
  const rows = countOf(run, 'error');
  return rows > 0
    ? `${counted(rows, 'row')} of the file ${rows === 1 ? 'has' : 'have'} errors and will be left out. `
    : '';
};

const approve = (run: Run): Action => ({
  verb: run.state === 'planned' ? 'Apply' : 'Approve',
  text: run.state === 'planned' ? 'Apply the plan' : 'Approve',
  kind: blockedBy(run) > 0 ? 'danger' : 'primary',
  says: `${changes(run)}${failures(run)}The file is planned again first. If the new plan differs, nothing is changed.`,
  done: 'The import is being applied.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/apply', of(id, reason))),
});

const reject = (run: Run): Action => ({
  verb: 'Reject',
  text: 'Reject',
  kind: 'danger',
  says: `This file will never be applied. ${changedBy(run) === 1 ? '1 user stays' : `${counted(changedBy(run), 'user')} stay`} unchanged.`,
  done: 'The import was rejected.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/reject', of(id, reason))),
});

const cancel = (run: Run): Action => ({
  verb: 'Stop',
  text: 'Stop',
  kind: 'danger',
  says: `The import stops after the current batch, at about ${counted(run.progress.rows_done, 'row')}. Changes that were applied until then are kept and can be reverted.`,
  done: 'The import is stopping.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/cancel', of(id, reason))),
});

const revert = (run: Run): Action => ({
  verb: 'Revert',
  text: 'Revert',
  kind: 'danger',
  says: `A new run reverts this import. ${undone(run)}Values that have changed since then are kept and listed as conflicts.`,
  done: 'The revert has started.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/revert', of(id, reason))),
});

const OF_STATE: Partial<Record<Run['state'], ((run: Run) => Action)[]>> = {
  queued: [cancel],
  validating: [cancel],
  applying: [cancel],
  planned: [reject, approve],
  needs_approval: [reject, approve],
  completed: [revert],
  completed_with_errors: [revert],
  cancelled: [revert],
};

/** Buttons for the actions that the state of a run allows, each with a confirmation. */
export function Actions({ run, onChange }: { run: Run; onChange: () => void }) {
  const [open, setOpen] = useState<Action>();
  const possible = run.reverted_by === null ? (OF_STATE[run.state] ?? []) : [];
  const actions = possible.map((action) => action(run));
  return (
    <div class={`buttons${isWaiting(run) ? ' decision' : ''}`}>
      {countOf(run, 'error') > 0 && (
        <a class="button" href={`/api/0.3/imports/${run.id}/failed.csv`} download>
          Failed rows
        </a>
      )}
      {actions.map((action) => (
        <button
          key={action.verb}
          type="button"
          class={action.verb === 'Approve' || action.verb === 'Apply' ? 'primary' : ''}
          onClick={() => {
            setOpen(action);
          }}
        >
          {action.text}
        </button>
      ))}
      {open && (
        <Confirm
          title={`${open.verb} ${titleOf(run)}`}
          verb={open.verb}
          isDangerous={open.kind === 'danger'}
          onClose={() => {
            setOpen(undefined);
          }}
          work={async (reason) => {
            const { data } = await open.send(run.id, reason).catch((thrown: unknown) => {
              // Someone else may have decided meanwhile, so the run is loaded again.
              if (thrown instanceof Problem && thrown.status === 409) onChange();
              throw thrown;
            });
            say(open.done);
            if (data.id === run.id) onChange();
            else go(href(`/imports/${data.id}`));
          }}
        >
          <p>{open.says}</p>
        </Confirm>
      )}
    </div>
  );
}
