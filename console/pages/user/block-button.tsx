import { useState } from 'preact/hooks';
import { ProblemError } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { formatCount } from '../../lib/text.js';
import { Confirm } from '../../parts/dialog.js';
import { getDisplayName } from '../../parts/avatar.js';
import { showToast } from '../../parts/toast.js';
import { type UserVersion, loadSessions, loadUser, saveUser } from '../../api/users.js';

/** Blocks or reactivates a user after a confirmation that explains the effect. */
export function BlockButton({
  version,
  onChange,
}: {
  version: UserVersion;
  onChange: (next: UserVersion) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const { user } = version;
  const isActive = user.status === 'Active';
  const sessions = useResource(isOpen && isActive ? user.uuid : undefined, (signal) =>
    loadSessions(user.uuid, signal),
  );
  const name = getDisplayName(user);
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
          confirmLabel={verb}
          isDangerous={isActive}
          onClose={() => {
            setOpen(false);
          }}
          work={async (reason) => {
            const body = { status: isActive ? 'Blocked' : 'Active' } as const;
            const next = await saveUser(version, body, reason).catch(async (thrown: unknown) => {
              // The user has changed meanwhile. The page shows the new version and the dialog stays open.
              if (thrown instanceof ProblemError && thrown.status === 412)
                onChange(await loadUser(user.uuid));
              throw thrown;
            });
            onChange(next);
            showToast(`${name} is ${isActive ? 'blocked' : 'active again'}.`);
          }}
        >
          {isActive ? (
            <p>
              {name} can no longer sign in. {formatEndingSessions(sessions.data?.length)} The profile, the
              roles and the history are kept.
            </p>
          ) : (
            <p>{name} can sign in again, with the same roles and the same password.</p>
          )}
        </Confirm>
      )}
    </>
  );
}

function formatEndingSessions(sessions: number | undefined): string {
  if (sessions === 0) return 'There are no open sessions.';
  if (sessions === undefined) return 'All open sessions end immediately.';
  return `${formatCount(sessions, 'open session')} ${sessions === 1 ? 'ends' : 'end'} immediately.`;
}
