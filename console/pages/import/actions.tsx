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
  /** On the page. */
  text: string;
  kind: 'primary' | 'danger' | '';
  /** What it does, and to how many. */
  says: string;
  done: string;
  send: (id: string, reason: string) => Promise<{ data: Run }>;
}

const of = (id: string, reason: string) => ({ params: { path: { import_id: id } }, ...because(reason) });

/** "2 users will be blocked, 4 updated. ": what locks somebody out comes first. */
function sentence(parts: readonly [users: number, done: string][]): string {
  const some = parts.filter(([users]) => users > 0);
  const texts = some.map(([users, done], index) =>
    index === 0 ? `${counted(users, 'user')} will be ${done}` : `${number(users)} ${done}`,
  );
  return texts.length > 0 ? `${texts.join(', ')}. ` : 'No user will change. ';
}

const changes = (run: Run): string =>
  sentence([
    [blockedBy(run), 'blocked'],
    [countOf(run, 'reactivated'), 'reactivated'],
    [countOf(run, 'created'), 'created'],
    [countOf(run, 'updated'), 'updated'],
  ]);

/** What a revert does to those whom nobody has changed since. */
const undone = (run: Run): string =>
  sentence([
    [countOf(run, 'created') + countOf(run, 'reactivated'), 'blocked'],
    [blockedBy(run), 'let in again'],
    [countOf(run, 'updated'), 'as they were before'],
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
  says: `${changes(run)}${failures(run)}The file is planned again first; if anything differs by then, nothing is written.`,
  done: 'The import is being applied.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/apply', of(id, reason))),
});

const reject = (run: Run): Action => ({
  verb: 'Reject',
  text: 'Reject',
  kind: 'danger',
  says: `Nothing of this file is ever written: ${changedBy(run) === 1 ? '1 user stays' : `${counted(changedBy(run), 'user')} stay`} unchanged.`,
  done: 'The import is rejected.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/reject', of(id, reason))),
});

const cancel = (run: Run): Action => ({
  verb: 'Stop',
  text: 'Stop',
  kind: 'danger',
  says: `It stops at its next batch, at about ${counted(run.progress.rows_done, 'row')}. What is applied by then stays, and can be reverted.`,
  done: 'The import stops.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/cancel', of(id, reason))),
});

const revert = (run: Run): Action => ({
  verb: 'Revert',
  text: 'Revert',
  kind: 'danger',
  says: `A new run undoes this one: ${undone(run)}What somebody has changed since then stays as it is, and is listed as a conflict.`,
  done: 'The revert has begun.',
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

/** What an operator can do with a run in its state, each after a question. */
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
              // Somebody else may have decided meanwhile: the page shows how it is now.
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
