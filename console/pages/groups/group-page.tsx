import { useEffect, useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { handleStatus } from '../../api/problem.js';
import { useAction, useResource } from '../../api/resource.js';
import { useUrl } from '../../lib/url.js';
import { formatCount } from '../../lib/text.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { Button } from '../../parts/button.js';
import { RoleFields } from '../../parts/field.js';
import { Card, Page, TableCard } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { parseColumns } from '../users/columns.js';
import { type LoadedGroup, loadGroup, saveRoles } from './groups.js';

/** The page of a group with its roles and members. */
export function GroupPage({ params }: { user: User; params: Record<string, string> }) {
  const id = params['id'] ?? '';
  const { query } = useUrl();
  const after = query.get('after') ?? '';
  const { data, problem, reload } = useResource(`${id} ${after}`, (signal) => loadGroup(id, after, signal));
  if (!data) return <Page title={problem ? 'Group' : 'Loading…'}>{<ProblemNote problem={problem} />}</Page>;
  const { group, members } = data;
  return (
    <Page
      title={group.display_name}
      lead={
        <>
          {formatCount(group.member_count, 'member')} · updated <Time at={group.updated} />
        </>
      }
    >
      <div class="stack">
        <ProblemNote problem={problem} />
        <Roles open={data} onSaved={reload} />
        <TableCard
          title="Members"
          rows={members.rows}
          getKey={({ uuid }) => uuid}
          empty="This group has no members."
          columns={parseColumns('name,status', true)}
        />
        <Pager page={members} unit="member" />
      </div>
    </Page>
  );
}

function Roles({ open: { group, etag }, onSaved }: { open: LoadedGroup; onSaved: () => void }) {
  const [roles, setRoles] = useState<readonly string[]>(group.roles);
  const action = useAction();
  useEffect(() => setRoles(group.roles), [group]);
  const isChanged = roles.length !== group.roles.length || roles.some((role) => !group.roles.includes(role));
  useUnsavedWarning(isChanged);
  return (
    <Card
      title="Roles for members"
      actions={
        <Button
          text={`Save for ${formatCount(group.member_count, 'member')}`}
          kind="primary"
          isDisabled={!isChanged || action.isBusy}
          onClick={() =>
            void action.run(async () => {
              // If someone else has changed the group, its current version is loaded.
              await saveRoles(group.uuid, etag, roles).catch(handleStatus(412, onSaved));
              showToast(`Roles of ${group.display_name} saved.`);
              onSaved();
            })
          }
        />
      }
    >
      <RoleFields chosen={roles} onChange={setRoles} />
      <ProblemNote problem={action.problem} />
    </Card>
  );
}
