import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { HiddenUsername, TextField } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { showToast } from '../../parts/toast.js';
import { type UserVersion, loadUser, saveUser } from '../../api/users.js';

interface PasswordProps {
  version: UserVersion;
  isSelf: boolean;
  onChange: () => void;
}

/** Sets a password. Users must enter their current password to change their own. */
export function PasswordCard({ version, isSelf, onChange }: PasswordProps) {
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const { run, isBusy, problem } = useAction();
  useUnsavedWarning(password !== '' || current !== '');
  const save = async (): Promise<void> => {
    const latest = await loadUser(version.user.uuid); // a password cannot overwrite other changes, so the latest version is fine
    await saveUser(latest, { password, ...(isSelf && { current_password: current }) });
    setPassword('');
    setCurrent('');
    showToast(
      isSelf ? 'Your password was changed and your other sessions have ended.' : 'The password was set.',
    );
    onChange();
  };
  return (
    <Card title="Password">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run(save);
        }}
      >
        <HiddenUsername user={version.user} />
        {isSelf && (
          <TextField
            name="current_password"
            value={current}
            onValue={setCurrent}
            error={problem?.getFieldError('current_password')}
            input={{ type: 'password', autocomplete: 'current-password', required: true }}
          />
        )}
        <TextField
          name="password"
          label="New password"
          value={password}
          onValue={setPassword}
          error={problem?.getFieldError('password')}
          input={{ type: 'password', autocomplete: 'new-password', required: true }}
        />
        <ProblemNote problem={problem} fields={['password', 'current_password']} />
        <div>
          <button type="submit" disabled={isBusy}>
            {isSelf ? 'Change password' : 'Set password'}
          </button>
        </div>
      </form>
    </Card>
  );
}
