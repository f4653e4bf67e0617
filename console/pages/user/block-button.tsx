import { ProblemError } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { formatCount } from '../../lib/text.js';
import { Confirm, DialogButton } from '../../parts/dialog.js';
import { getDisplayName } from '../../parts/avatar.js';
import { showToast } from '../../parts/toast.js';
import { type UserVersion, loadSessions, loadUser, saveUser } from '../../api/users.js';
import { ReportsNote } from './reports-note.js';

/** Blocks or reactivates a user after a confirmation that explains the effect. */
export function BlockButton({
  version,
  onChange,
}: {
  version: UserVersion;
  onChange: (next: UserVersion) => void;
}) {
  const { user } = version;
  const isActive = user.status === 'Active';
  const name = getDisplayName(user);
  const verb = isActive ? 'Block' : 'Reactivate';
  return (
    <DialogButton label={verb}>
      {(close) => (
        <Confirm
          title={`${verb} ${name}`}
          confirmLabel={verb}
          isDangerous={isActive}
          onClose={close}
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
            <>
              <p>
                {name} can no longer sign in. <EndingSessions uuid={user.uuid} /> The profile, the roles and
                the history are kept.
              </p>
              <ReportsNote uuid={user.uuid} effect="will keep this manager." />
            </>
          ) : (
            <p>{name} can sign in again. The roles and the password, if there is one, are unchanged.</p>
          )}
        </Confirm>
      )}
    </DialogButton>
  );
}

function EndingSessions({ uuid }: { uuid: string }) {
  const { data } = useResource(uuid, (signal) => loadSessions(uuid, signal));
  if (!data) return <>All open sessions end immediately.</>;
  if (data.length === 0) return <>There are no open sessions.</>;
  const verb = data.length === 1 ? 'ends' : 'end';
  return <>{`${formatCount(data.length, 'open session')} ${verb} immediately.`}</>;
}
