import type { Session, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { loadSession } from '../../api/session.js';
import { formatCount } from '../../lib/text.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { endAllSessions, endSession, loadSessions } from '../../api/users.js';

/** Lists the sessions of a user and ends them on request. */
export function Sessions({ user }: { user: User }) {
  const sessions = useResource(user.uuid, (signal) => loadSessions(user.uuid, signal));
  const { data = [], reload } = sessions;
  const name = getDisplayName(user);
  /** Builds the confirmation before sessions end. */
  const confirm = (ending: readonly Session[], title: string, end: (reason: string) => Promise<void>) => {
    const isOwn = ending.some(({ current }) => current);
    const effect = isOwn
      ? 'You will be signed out immediately. You can sign in again.'
      : `${name} will be signed out immediately, but can sign in again.`;
    return {
      title,
      confirmLabel: 'End',
      isDangerous: true,
      children: <p>{effect}</p>,
      work: async (reason: string): Promise<void> => {
        await end(reason);
        if (isOwn) await loadSession();
        else reload();
      },
    };
  };
  const confirmAll = confirm(data, `End ${formatCount(data.length, 'session')}`, async (reason) => {
    await endAllSessions(user.uuid, reason);
    showToast(`${formatCount(data.length, 'session')} ended.`);
  });
  const confirmOne = (session: Session) =>
    confirm([session], 'End the session', async (reason) => {
      await endSession(session.id, reason);
      showToast('The session has ended.');
    });
  return (
    <Card
      title="Sessions"
      isFlush
      actions={data.length > 0 && <ConfirmButton text="End all" {...confirmAll} />}
    >
      <ProblemNote problem={sessions.problem} />
      <Table
        caption="Sessions"
        rows={data}
        getKey={({ id }) => id}
        isLoading={sessions.isLoading}
        empty={`${name} has no open sessions.`}
        columns={[
          { title: 'Signed in', cell: ({ created }) => <Time at={created} /> },
          { title: 'Ends', cell: ({ expires }) => <Time at={expires} /> },
          { title: 'IP address', cell: ({ ip }) => <code>{ip}</code> },
          { title: 'Current', cell: ({ current }) => current && <Pill tone="good">This session</Pill> },
          { title: 'Actions', cell: (session) => <ConfirmButton text="End" {...confirmOne(session)} /> },
        ]}
      />
    </Card>
  );
}
