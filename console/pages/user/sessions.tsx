import type { Session, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { loadSession } from '../../api/session.js';
import { formatCount } from '../../lib/text.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { TableCard } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { endAllSessions, endSession, loadSessions } from '../../api/users.js';

/** Lists the sessions of a user and ends them on request. */
export function Sessions({ user }: { user: User }) {
  const sessions = useResource(user.uuid, (signal) => loadSessions(user.uuid, signal));
  const { data = [], reload } = sessions;
  const name = getDisplayName(user);
  const endButton = (text: string, ending: readonly Session[], end: (reason: string) => Promise<void>) => {
    const isOwn = ending.some(({ current }) => current);
    return (
      <ConfirmButton
        text={text}
        title={`End ${formatCount(ending.length, 'session')}`}
        confirmLabel="End"
        isDangerous
        work={async (reason) => {
          await end(reason);
          if (isOwn) await loadSession();
          else reload();
        }}
        successText={`${formatCount(ending.length, 'session')} ended.`}
      >
        <p>{isOwn ? 'You' : name} will be signed out immediately, but can sign in again.</p>
      </ConfirmButton>
    );
  };
  return (
    <>
      <ProblemNote problem={sessions.problem} />
      <TableCard
        title="Sessions"
        actions={data.length > 0 && endButton('End all', data, (reason) => endAllSessions(user.uuid, reason))}
        rows={data}
        getKey={({ id }) => id}
        isLoading={sessions.isLoading}
        empty={`${name} has no open sessions.`}
        columns={[
          { title: 'Signed in', cell: ({ created }) => <Time at={created} /> },
          { title: 'Ends', cell: ({ expires }) => <Time at={expires} /> },
          { title: 'IP address', cell: ({ ip }) => <code>{ip}</code> },
          { title: 'Current', cell: ({ current }) => current && <Pill tone="good">This session</Pill> },
          {
            title: 'Actions',
            cell: (session) => endButton('End', [session], (reason) => endSession(session.id, reason)),
          },
        ]}
      />
    </>
  );
}
