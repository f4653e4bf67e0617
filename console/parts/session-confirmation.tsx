import { useState } from 'preact/hooks';
import { type User, pendingConfirmation } from '../api/client.js';
import { useAction } from '../api/resource.js';
import { confirmSession } from '../api/session.js';
import { useStore } from '../lib/store.js';
import { Dialog } from './dialog.js';
import { HiddenUsername, TextField } from './field.js';
import { ProblemNote } from './problem-note.js';

/** Asks for the password of the user before a sensitive change. */
export function SessionConfirmation({ user }: { user: User }) {
  const onEnd = useStore(pendingConfirmation);
  return onEnd ? <ConfirmationDialog user={user} onEnd={onEnd} /> : null;
}

function ConfirmationDialog({ user, onEnd }: { user: User; onEnd: (isConfirmed: boolean) => void }) {
  const [password, setPassword] = useState('');
  const { run, isBusy, problem } = useAction();
  const confirm = async (): Promise<void> => {
    if (await run(() => confirmSession(password))) onEnd(true);
  };
  const cancel = (): void => onEnd(false);
  return (
    <Dialog title="Confirm with your password" onClose={cancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <p>You signed in more than 10 minutes ago. This change needs your password again.</p>
        <HiddenUsername user={user} />
        <TextField
          name="current_password"
          value={password}
          onValue={setPassword}
          error={problem?.getFieldError('password')}
          input={{ type: 'password', autocomplete: 'current-password', required: true, autofocus: true }}
        />
        <ProblemNote problem={problem} fields={['password']} />
        <div class="buttons end">
          <button type="button" onClick={cancel}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            Confirm
          </button>
        </div>
      </form>
    </Dialog>
  );
}
