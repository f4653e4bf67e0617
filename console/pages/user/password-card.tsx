import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { CheckField, HiddenUsername, TextField } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Card } from '../../parts/page.js';
import { showToast } from '../../parts/toast.js';
import { type User, serviceInfo } from '../../api/client.js';
import { generatePassword, loadUser, saveUser } from '../../api/users.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton, SecretDialog } from '../../parts/dialog.js';

interface PasswordProps {
  user: User;
  isSelf: boolean;
  onChange: () => void;
}

/** Sets a password, or generates one for another user. */
export const PasswordCard = ({ user, isSelf, onChange }: PasswordProps) => (
  <Card title="Password" actions={!isSelf && <GeneratePasswordButton user={user} onChange={onChange} />}>
    {user.password_change_required && <p>The user must choose a new password at the next sign-in.</p>}
    <PasswordForm user={user} isSelf={isSelf} onChange={onChange} />
  </Card>
);

/** Sets a password. Users must enter their current password to change their own. */
export function PasswordForm({ user, isSelf, onChange }: PasswordProps) {
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const [mustChange, setMustChange] = useState(true);
  const action = useAction();
  useUnsavedWarning(password !== '' || current !== '');
  const save = async (): Promise<void> => {
    const latest = await loadUser(user.uuid); // a password cannot overwrite other changes, so the latest version is fine
    const more = isSelf ? { current_password: current } : { password_change_required: mustChange };
    await saveUser(latest, { password, ...more });
    setPassword('');
    setCurrent('');
    showToast(
      isSelf ? 'Your password was changed and your other sessions have ended.' : 'The password was set.',
    );
    onChange();
  };
  return (
    <Form
      action={action}
      work={save}
      submitLabel={isSelf ? 'Change password' : 'Set password'}
      fields={['password', 'current_password']}
    >
      <HiddenUsername user={user} />
      {isSelf && (
        <TextField
          name="current_password"
          value={current}
          onValue={setCurrent}
          input={{ type: 'password', autocomplete: 'current-password', required: true }}
        />
      )}
      <TextField
        name="password"
        label="New password"
        hint={`At least ${serviceInfo.get().password_min_length} characters. Not a common password, and not mainly names, greetings, common words, sequences or repetitions.`}
        value={password}
        onValue={setPassword}
        input={{ type: 'password', autocomplete: 'new-password', required: true }}
      />
      {!isSelf && <MustChangeField value={mustChange} onValue={setMustChange} />}
    </Form>
  );
}

/** Choice for a password that another person has seen. */
const MustChangeField = (props: { value: boolean; onValue: (value: boolean) => void }) => (
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
