import type { User } from '../../api/client.js';
import { handleStatus } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { formatCount } from '../../lib/text.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { getDisplayName } from '../../parts/avatar.js';
import { type UserVersion, loadSessions, loadUser, saveUser } from '../../api/users.js';
import { ReportsNote } from './reports-note.js';

interface BlockProps {
  version: UserVersion;
  onChange: (next: UserVersion) => void;
}

/** Blocks or reactivates a user after a confirmation that explains the effect. */
export function BlockButton({ version, onChange }: BlockProps) {
  const { user } = version;
  const isActive = user.status === 'Active';
  const name = getDisplayName(user);
  const text = isActive ? 'Block' : 'Reactivate';
  return (
    <ConfirmButton
      text={text}
      title={`${text} ${name}`}
      isDangerous={isActive}
      work={async (reason) => {
        const body = { status: isActive ? 'Blocked' : 'Active' } as const;
        // If the user has changed meanwhile, the page shows the new version and the dialog stays open.
        const reload = handleStatus(412, async () => onChange(await loadUser(user.uuid)));
        onChange(await saveUser(version, body, reason).catch(reload));
      }}
      successText={`${name} is ${isActive ? 'blocked' : 'active again'}.`}
    >
      {isActive ? (
        <BlockEffect user={user} />
      ) : (
        <p>{name} can sign in again. The roles and the password, if there is one, are unchanged.</p>
      )}
    </ConfirmButton>
  );
}

function BlockEffect({ user }: { user: User }) {
  const sessions = useResource(user.uuid, (signal) => loadSessions(user.uuid, signal));
  const count = sessions.data ? formatCount(sessions.data.length, 'open session') : 'All open sessions';
  return (
    <>
      <p>
        {getDisplayName(user)} can no longer sign in.{' '}
        {sessions.data?.length !== 0 && `${count} will end immediately. `}The profile, the roles and the
        history are kept.
      </p>
      <ReportsNote uuid={user.uuid} effect="will keep this manager." />
    </>
  );
}
