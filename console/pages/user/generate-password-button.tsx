import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useAction } from '../../api/resource.js';
import { generatePassword } from '../../api/users.js';
import { getDisplayName } from '../../parts/avatar.js';
import { Copy } from '../../parts/copy.js';
import { Dialog, DialogButton } from '../../parts/dialog.js';
import { CheckField } from '../../parts/field.js';
import { ProblemNote } from '../../parts/problem-note.js';

/** Generates a password for a user and shows it once. */
export const GeneratePasswordButton = ({ user, onChange }: { user: User; onChange: () => void }) => (
  <DialogButton label="Generate password">
    {(close) => (
      <GenerateDialog
        user={user}
        onClose={(isGenerated) => {
          close();
          if (isGenerated) onChange();
        }}
      />
    )}
  </DialogButton>
);

function GenerateDialog({ user, onClose }: { user: User; onClose: (isGenerated: boolean) => void }) {
  const [mustChange, setMustChange] = useState(true);
  const [password, setPassword] = useState('');
  const { run, isBusy, problem } = useAction();
  const name = getDisplayName(user);
  const generate = async (): Promise<void> => {
    setPassword(await generatePassword(user.uuid, mustChange));
  };
  const close = (): void => {
    onClose(password !== '');
  };
  if (password !== '')
    return (
      <Dialog title={`New password of ${name}`} isPersistent onClose={close}>
        <p>
          <Copy text={password} what="password" />
        </p>
        <p>
          Give this password to {name}, who signs in as <strong>{user.username}</strong>. It is shown only
          now.
          {mustChange && ' The next sign-in asks for a new password.'}
        </p>
        <div class="buttons end">
          <button type="button" class="primary" autofocus onClick={close}>
            Done
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`Generate a password for ${name}`} onClose={close}>
      <div class="stack">
        <p>A present password stops working, and all sessions of {name} end.</p>
        <CheckField
          name="must_change"
          label="Ask for a change at the next sign-in"
          value={mustChange}
          onValue={setMustChange}
        />
        <ProblemNote problem={problem} />
        <div class="buttons end">
          <button type="button" autofocus onClick={close}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void run(generate)}>
            Generate
          </button>
        </div>
      </div>
    </Dialog>
  );
}
