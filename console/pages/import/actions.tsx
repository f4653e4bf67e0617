import { useState } from 'preact/hooks';
import { type Run, api, ask, because } from '../../api/client.js';
import { go, href } from '../../lib/place.js';
import { counted } from '../../lib/text.js';
import { Confirm } from '../../parts/dialog.js';
import { say } from '../../parts/toast.js';
import { changedBy, countOf } from './runs.js';

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

/** "4 users are created, 2 blocked". */
function changes(run: Run): string {
  const parts = (['created', 'updated', 'reactivated', 'blocked'] as const)
    .map((outcome) => ({ outcome, rows: countOf(run, outcome) }))
    .filter(({ rows }) => rows > 0)
    .map(({ outcome, rows }, index) =>
      index === 0 ? `${counted(rows, 'user')} will be ${outcome}` : `${rows} ${outcome}`,
    );
  return parts.length > 0 ? `${parts.join(', ')}. ` : 'No user will change. ';
}

const approve = (run: Run): Action => ({
  verb: run.state === 'planned' ? 'Apply' : 'Approve',
  text: run.state === 'planned' ? 'Apply the plan' : 'Approve',
  kind: 'primary',
  says: `${changes(run)}The file is planned again first; if anything differs by then, nothing is written.`,
  done: 'The import goes on.',
  send: (id, reason) => ask(api.POST('/api/0.3/imports/{import_id}/apply', of(id, reason))),
});

const reject = (run: Run): Action => ({
  verb: 'Reject',
  text: 'Reject',
  kind: 'danger',
  says: `Nothing of this file is ever written: ${counted(changedBy(run), 'user')} stay as they are.`,
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
  says:
    `A new run undoes what this one did to ${counted(changedBy(run), 'user')}: it restores the values that nobody has changed since` +
    `${countOf(run, 'created') > 0 ? `, and blocks the ${counted(countOf(run, 'created'), 'user')} that were created` : ''}. ` +
    'The rest is listed as conflicts.',
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
  const actions = (OF_STATE[run.state] ?? []).map((action) => action(run));
  return (
    <>
      {countOf(run, 'error') > 0 && (
        <a class="button" href={`/api/0.3/imports/${run.id}/failed.csv`} download>
          Failed rows
        </a>
      )}
      {actions.map((action) => (
        <button
          key={action.verb}
          type="button"
          class={action.kind === 'primary' ? 'primary' : ''}
          onClick={() => {
            setOpen(action);
          }}
        >
          {action.text}
        </button>
      ))}
      {open && (
        <Confirm
          title={`${open.verb} ${run.file.name}`}
          verb={open.verb}
          isDangerous={open.kind === 'danger'}
          onClose={() => {
            setOpen(undefined);
          }}
          work={async (reason) => {
            const { data } = await open.send(run.id, reason);
            say(open.done);
            if (data.id === run.id) onChange();
            else go(href(`/imports/${data.id}`));
          }}
        >
          <p>{open.says}</p>
        </Confirm>
      )}
    </>
  );
}
