import { useState } from 'preact/hooks';
import { Problem } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { counted } from '../../lib/text.js';
import { Confirm } from '../../parts/dialog.js';
import { nameOf } from '../../parts/avatar.js';
import { say } from '../../parts/toast.js';
import { type Version, loadSessions, loadUser, saveUser } from '../../api/users.js';

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
            const body = { status: isActive ? 'Blocked' : 'Active' } as const;
            const next = await saveUser(version, body, reason).catch(async (thrown: unknown) => {
              // Somebody else has changed the user: the page shows it, and the question is asked anew.
              if (thrown instanceof Problem && thrown.status === 412) onChange(await loadUser(user.uuid));
              throw thrown;
            });
            onChange(next);
            say(`${name} is ${isActive ? 'blocked' : 'active again'}.`);
          }}
        >
          {isActive ? (
            <p>
              {name} can no longer sign in{ended(sessions.data?.length)}. The profile, the roles and the
              history stay.
            </p>
          ) : (
            <p>{name} can sign in again, with the same roles and the same password.</p>
          )}
        </Confirm>
      )}
    </>
  );
}

function ended(sessions: number | undefined): string {
  if (sessions === 0) return ', and has no session now';
  const text = sessions === undefined ? 'every session' : counted(sessions, 'session');
  return `, and ${text} of theirs ${sessions === undefined || sessions === 1 ? 'ends' : 'end'} at once`;
}
