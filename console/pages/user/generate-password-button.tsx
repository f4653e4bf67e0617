import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useAction } from '../../api/resource.js';
import { generatePassword } from '../../api/users.js';
import { getDisplayName } from '../../parts/avatar.js';
import { Button } from '../../parts/button.js';
import { Copy } from '../../parts/copy.js';
import { Dialog } from '../../parts/dialog.js';
import { CheckField } from '../../parts/field.js';
import { Form } from '../../parts/form.js';

/** Generates a password for a user and shows it once. */
export function GeneratePasswordButton({ user, onChange }: { user: User; onChange: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => {
    setOpen(false);
    onChange();
  };
  return (
    <>
      <Button text="Generate password" onClick={() => setOpen(true)} />
      {isOpen && <GenerateDialog user={user} onClose={close} />}
    </>
  );
}

function GenerateDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const [mustChange, setMustChange] = useState(true);
  const [password, setPassword] = useState('');
  const action = useAction();
  const name = getDisplayName(user);
  const generate = async (): Promise<void> => {
    setPassword(await generatePassword(user.uuid, mustChange));
  };
  if (password !== '')
    return (
      <Dialog title={`New password of ${name}`} isPersistent onClose={onClose}>
        <p>
          <Copy text={password} what="password" />
        </p>
        <p>
          Give this password to {name}, who signs in as <strong>{user.username}</strong>. It is shown only
          now.
          {mustChange && ' The next sign-in asks for a new password.'}
        </p>
        <div class="buttons end">
          <Button text="Done" kind="primary" isFocused onClick={onClose} />
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`Generate a password for ${name}`} onClose={onClose}>
      <Form action={action} work={generate} submitLabel="Generate" onCancel={onClose} isCautious>
        <p>The old password stops working, and all sessions of {name} end.</p>
        <CheckField
          name="must_change"
          label="Ask for a change at the next sign-in"
          value={mustChange}
          onValue={setMustChange}
        />
      </Form>
    </Dialog>
  );
}
