import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { generatePassword } from '../../api/users.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton, SecretDialog } from '../../parts/dialog.js';
import { CheckField } from '../../parts/field.js';

/** Choice for a password that another person has seen. */
export const MustChangeField = (props: { value: boolean; onValue: (value: boolean) => void }) => (
  <CheckField name="must_change" label="Ask for a change at the next sign-in" {...props} />
);

/** Generates a password for a user and shows it once. */
export function GeneratePasswordButton({ user, onChange }: { user: User; onChange: () => void }) {
  const [mustChange, setMustChange] = useState(true);
  const [password, setPassword] = useState('');
  const name = getDisplayName(user);
  const close = (): void => {
    setPassword('');
    onChange();
  };
  return (
    <>
      <ConfirmButton
        text="Generate password"
        title={`Generate a password for ${name}`}
        confirmLabel="Generate"
        work={async (reason) => setPassword(await generatePassword(user.uuid, mustChange, reason))}
      >
        <p>The old password stops working, and all sessions of {name} end.</p>
        <MustChangeField value={mustChange} onValue={setMustChange} />
      </ConfirmButton>
      {password !== '' && (
        <SecretDialog title={`New password of ${name}`} secret={password} what="password" onClose={close}>
          Give this password to {name}, who signs in as <strong>{user.username}</strong>. It is shown only
          now.
          {mustChange && ' The next sign-in asks for a new password.'}
        </SecretDialog>
      )}
    </>
  );
}
