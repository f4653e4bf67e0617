import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { counted } from '../../lib/text.js';
import { Confirm } from '../../parts/dialog.js';
import { nameOf } from '../../parts/avatar.js';
import { say } from '../../parts/toast.js';
import { type Version, loadSessions, saveUser } from './load.js';

/** Blocks a user, or lets them in again, after saying what that does. */
export function BlockButton({ version, onChange }: { version: Version; onChange: (next: Version) => void }) {
  const [isOpen, setOpen] = useState(false);
  const { user } = version;
  const isActive = user.status === 'Active';
  const sessions = useResource(isOpen && isActive ? user.uuid : undefined, (signal) =>
    loadSessions(user.uuid, signal),
  );
  const name = nameOf(user);
  const verb = isActive ? 'Block' : 'Reactivate';
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setOpen(true);
        }}
      >
        {verb}
      </button>
      {isOpen && (
        <Confirm
          title={`${verb} ${name}`}
          verb={verb}
          isDangerous={isActive}
          onClose={() => {
            setOpen(false);
          }}
          work={async (reason) => {
            onChange(await saveUser(version, { status: isActive ? 'Blocked' : 'Active' }, reason));
            say(`${name} is ${isActive ? 'blocked' : 'active again'}.`);
          }}
        >
          {isActive ? (
            <p>
              {name} can no longer log in, and{' '}
              {sessions.data ? counted(sessions.data.length, 'session') : 'every session'} of theirs ends at
              once. The profile, the roles and the history stay.
            </p>
          ) : (
            <p>{name} can log in again, with the roles and the password of before.</p>
          )}
        </Confirm>
      )}
    </>
  );
}
