import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { isWebmaster } from '../../api/session.js';
import { changeUsers, loadDeletedUsers, loadFormerReports, restoreUser } from '../../api/users.js';
import { formatCount } from '../../lib/text.js';
import { navigate, toHref } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { CheckField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Card, Page, TableCard } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { parseColumns } from '../users/columns.js';
import { History } from './history.js';
import { ProfileFacts } from './profile.js';

/** The page of a deleted user, who can be restored. */
export function DeletedUserPage({ params: { id = '' } }: { params: Record<string, string> }) {
  const { data, problem } = useResource(id, (signal) => loadDeletedUsers({ uuid: id }, signal));
  const user = data?.rows[0];
  const former = useResource(user && id, async (signal) => user && loadFormerReports(user, signal));
  const [isRestored, setRestored] = useState(false);
  const [shouldReassign, setReassign] = useState(true);
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
  const text = `Restore ${name}`;
  const reports = former.data ?? [];
  return (
    <Page
      title={name}
      titleBadge={<Pill tone="bad">Deleted</Pill>}
      lead={[user.username, user.email].join(' · ')}
      actions={
        <ConfirmButton
          text="Restore"
          title={text}
          isPrimary
          work={async (reason) => {
            if (!isRestored) await restoreUser(id, reason);
            setRestored(true); // another attempt then only changes the reports
            if (!shouldReassign || reports.length === 0) navigate(toHref(`/users/${id}`));
            else navigate(toHref(`/imports/${await reassignReports(id, reports, reason || text)}`));
          }}
          successText={`${name} was restored.`}
        >
          <p>
            {name} is {user.status} again, with the same password. Groups and roles from groups are not
            restored.
          </p>
          {reports.length > 0 && (
            <CheckField
              name="reports"
              label={`Reassign ${formatCount(reports.length, 'direct report')} to this user`}
              value={shouldReassign}
              onValue={setReassign}
            />
          )}
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
        {reports.length > 0 && (
          <TableCard
            title="Former direct reports without a manager"
            rows={reports}
            getKey={({ uuid }) => uuid}
            columns={parseColumns('name', true)}
          />
        )}
        <Card title="Profile">
          <ProfileFacts user={user} isFull />
        </Card>
        <History id={user.uuid} />
      </div>
    </Page>
  );
}

/** Reassigns users to their former manager in a bulk change. @returns the id of its run. */
const reassignReports = (manager: string, reports: readonly User[], reason: string): Promise<string> =>
  changeUsers({
    uuids: reports.map(({ uuid }) => uuid),
    change: { manager_uuid: manager },
    reason,
    dry_run: false,
    allow_privileged: reports.some(isWebmaster),
  });
