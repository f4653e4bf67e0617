import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { HiddenUsername, TextField } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Card } from '../../parts/page.js';
import { showToast } from '../../parts/toast.js';
import { type User, serviceInfo } from '../../api/client.js';
import { loadUser, saveUser } from '../../api/users.js';
import { GeneratePasswordButton, MustChangeField } from './generate-password-button.js';

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
