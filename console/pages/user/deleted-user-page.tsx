import { useResource } from '../../api/resource.js';
import { loadDeletedUsers, restoreUser } from '../../api/users.js';
import { navigate, toHref } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { Icon } from '../../parts/icon.js';
import { Card, Page } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { History } from './history.js';
import { ProfileFacts } from './profile.js';

/** The page of a deleted user, who can be restored. */
export function DeletedUserPage({ params: { id = '' } }: { params: Record<string, string> }) {
  const { data, problem } = useResource(id, (signal) => loadDeletedUsers({ uuid: id }, signal));
  const user = data?.rows[0];
  if (!user)
    return (
      <Page title={data ? 'Deleted user not found' : problem ? 'Deleted user' : 'Loading…'}>
        <ProblemNote problem={problem} />
        {data && (
          <p>
            The user was restored or removed for good. <a href={toHref(`/users/${id}`)}>Open the user</a>
          </p>
        )}
      </Page>
    );
  const name = getDisplayName(user);
  return (
    <Page
      title={name}
      titleBadge={<Pill tone="bad">Deleted</Pill>}
      lead={[user.username, user.email].join(' · ')}
      actions={
        <ConfirmButton
          text="Restore"
          title={`Restore ${name}`}
          isPrimary
          work={async (reason) => {
            await restoreUser(user.uuid, reason);
            navigate(toHref(`/users/${user.uuid}`));
          }}
          successText={`${name} was restored.`}
        >
          <p>
            {name} is {user.status} again, with the same password. Groups, roles from groups and direct
            reports are not restored.
          </p>
        </ConfirmButton>
      }
    >
      <div class="stack">
        <div class="note">
          <Icon name="warning" />
          <p>
            Deleted <Time at={user.deleted} />
            {user.deleted_by && ' by '}
            {user.deleted_by && <ActorName actor={user.deleted_by} />}
            {user.reason && `: ${user.reason}`}. After <Time at={user.final_removal} /> the user is removed
            for good.
          </p>
        </div>
        <Card title="Profile">
          <ProfileFacts user={user} isFull />
        </Card>
        <History id={user.uuid} />
      </div>
    </Page>
  );
}
