import { useState } from 'preact/hooks';
import type { Confirmation, User } from '../api/client.js';
import { useAction } from '../api/resource.js';
import { confirmSession } from '../api/session.js';
import { Dialog } from './dialog.js';
import { HiddenUsername, TextField } from './field.js';
import { Form } from './form.js';

/** Asks for the password of the user before a sensitive change. */
export function SessionConfirmation({ user, onEnd }: { user: User; onEnd: Confirmation }) {
  const [password, setPassword] = useState('');
  const action = useAction();
  const confirm = async (): Promise<void> => {
    await confirmSession(password);
    onEnd(true);
  };
  const cancel = (): void => onEnd(false);
  return (
    <Dialog title="Confirm with your password" onClose={cancel}>
      <Form action={action} work={confirm} submitLabel="Confirm" onCancel={cancel} fields={['password']}>
        <p>You signed in more than 10 minutes ago. This change needs your password again.</p>
        <HiddenUsername user={user} />
        <TextField
          name="current_password"
          value={password}
          onValue={setPassword}
          error={action.problem?.getFieldError('password')}
          input={{ type: 'password', autocomplete: 'current-password', required: true, autofocus: true }}
        />
      </Form>
    </Dialog>
  );
}
