import { useEffect } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { isWebmaster, sessionState } from '../../api/session.js';
import { navigate, toHref, useUrl } from '../../lib/url.js';
import { Avatar, getDisplayName } from '../../parts/avatar.js';
import { Icon } from '../../parts/icon.js';
import { Page } from '../../parts/page.js';
import { StatusPill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Tabs } from '../../parts/tabs.js';
import { BlockButton } from './block-button.js';
import { DeleteButton } from './delete-button.js';
import { History } from './history.js';
import { type UserVersion, loadDeletedUsers, loadUser } from '../../api/users.js';
import { GeneratePasswordButton, PasswordCard } from './password-card.js';
import { Profile } from './profile.js';
import { Sessions } from './sessions.js';
import { RecordCard } from './facts.js';
import { WaitingChanges } from './waiting.js';

/** The page of a user, or of the current user if the URL has no id. */
export function UserPage({ user: reader, params }: { user: User; params: Record<string, string> }) {
  const { query } = useUrl();
  const id = params['id'] ?? reader.uuid;
  const isSelf = id === reader.uuid;
  const isFull = isWebmaster(reader);
  const { data, problem, set, reload } = useResource(id, (signal) => loadUser(id, signal));
  const isMissing = isFull && problem?.status === 404;
  const deleted = useResource(isMissing ? id : undefined, (signal) => loadDeletedUsers({ uuid: id }, signal));
  const isDeleted = deleted.data?.rows[0] !== undefined;
  useEffect(() => {
    if (isDeleted) navigate(toHref(`/users/deleted/${id}`), { replace: true });
  }, [isDeleted]);
  if (!data) return <Page title={problem ? 'User' : 'Loading…'}>{<ProblemNote problem={problem} />}</Page>;
  const { user } = data;
  const change = (next: UserVersion): void => {
    set(next);
    if (isSelf) sessionState.set({ state: 'user', user: next.user });
  };
  const tab = query.get('tab') ?? '';
  const tabs = [
    { value: '', text: 'Profile' },
    ...(isFull || isSelf ? [{ value: 'sessions', text: 'Sessions' }] : []),
    ...(isFull ? [{ value: 'history', text: 'History' }] : []),
  ];
  return (
    <Page
      title={getDisplayName(user)}
      titleBadge={<StatusPill status={user.status} />}
      lead={
        <span class="person">
          <Avatar user={user} />
          <span>{[user.username, user.email].filter(Boolean).join(' · ')}</span>
        </span>
      }
      actions={
        isFull &&
        !isSelf && (
          <>
            <BlockButton version={data} onChange={change} />
            <DeleteButton version={data} />
          </>
        )
      }
    >
      {tabs.length > 1 && <Tabs name="tab" label="User sections" tabs={tabs} />}
      {tab === 'sessions' ? (
        <Sessions user={user} />
      ) : tab === 'history' ? (
        <History id={id} />
      ) : (
        <div class="stack">
          {isFull && query.has('new') && !user.password_change_required && (
            <div class="note info" role="status">
              <Icon name="check" />
              <div>
                <p>The user was created and has no password yet.</p>
                <GeneratePasswordButton user={user} onChange={reload} />
              </div>
            </div>
          )}
          {isFull && <WaitingChanges user={user} />}
          <div class="split">
            <Profile version={data} isFull={isFull} isSelf={isSelf} onChange={change} />
            <div class="stack">
              <RecordCard user={user} isFull={isFull} />
              {(isFull || isSelf) && <PasswordCard user={user} isSelf={isSelf} onChange={reload} />}
            </div>
          </div>
        </div>
      )}
    </Page>
  );
}
