import { useState } from 'preact/hooks';
import { type Session, type User, api, unwrap, toReasonHeader } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { loadSession } from '../../api/session.js';
import { formatCount } from '../../lib/text.js';
import { getDisplayName } from '../../parts/avatar.js';
import { Confirm } from '../../parts/dialog.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { loadSessions } from '../../api/users.js';

/** Lists the sessions of a user and ends them on request. */
export function Sessions({ user }: { user: User }) {
  const {
    data = [],
    problem,
    isLoading,
    reload,
  } = useResource(user.uuid, (signal) => loadSessions(user.uuid, signal));
  const [ending, setEnding] = useState<Session | 'all'>();
  const isOwn = ending === 'all' ? data.some(({ current }) => current) : ending?.current;
  const end = async (reason: string): Promise<void> => {
    const headers = toReasonHeader(reason);
    if (ending === 'all') {
      const params = { path: { user_id: user.uuid } };
      await unwrap(api.DELETE('/api/0.3/users/{user_id}/sessions', { params, ...headers }));
    } else if (ending) {
      const params = { path: { session_id: ending.id } };
      await unwrap(api.DELETE('/api/0.3/sessions/{session_id}', { params, ...headers }));
    }
    showToast(ending === 'all' ? `${formatCount(data.length, 'session')} ended.` : 'The session has ended.');
    if (isOwn) await loadSession();
    else reload();
  };
  return (
    <Card
      title="Sessions"
      isFlush
      actions={
        data.length > 0 && (
          <button
            type="button"
            onClick={() => {
              setEnding('all');
            }}
          >
            End all
          </button>
        )
      }
    >
      <ProblemNote problem={problem} />
      <Table
        caption="Sessions"
        rows={data}
        getKey={({ id }) => id}
        isLoading={isLoading}
        empty={`${getDisplayName(user)} has no open sessions.`}
        columns={[
          { name: 'created', title: 'Signed in', cell: ({ created }) => <Time at={created} /> },
          { name: 'expires', title: 'Ends', cell: ({ expires }) => <Time at={expires} /> },
          { name: 'ip', title: 'IP address', cell: ({ ip }) => <code>{ip}</code> },
          {
            name: 'current',
            title: 'Current',
            cell: ({ current }) => current && <Pill tone="good">This session</Pill>,
          },
          {
            name: 'end',
            title: 'Actions',
            cell: (session) => (
              <button
                type="button"
                onClick={() => {
                  setEnding(session);
                }}
              >
                End
              </button>
            ),
          },
        ]}
      />
      {ending && (
        <Confirm
          title={ending === 'all' ? `End ${formatCount(data.length, 'session')}` : 'End the session'}
          confirmLabel="End"
          isDangerous
          work={end}
          onClose={() => {
            setEnding(undefined);
          }}
        >
          <p>
            {isOwn
              ? 'You will be signed out immediately. You can sign in again.'
              : `${getDisplayName(user)} will be signed out immediately, but can sign in again.`}
          </p>
        </Confirm>
      )}
    </Card>
  );
}
