import type { ComponentChildren } from 'preact';
import type { AuditEvent, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { formatCount, getLabel } from '../../lib/text.js';
import { toHref } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { Copy } from '../../parts/copy.js';
import { Card } from '../../parts/page.js';
import { Time } from '../../parts/time.js';
import { findLatestEvent, loadGroups } from '../../api/users.js';
import { useReportCount } from './reports-note.js';

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{getLabel(name)}</dt>
    <dd>{children}</dd>
  </div>
);

const Names = ({ values }: { values: readonly string[] }) =>
  values.length > 0 ? (
    <span class="tags">
      {values.map((value) => (
        <span key={value} class="tag">
          {value}
        </span>
      ))}
    </span>
  ) : (
    <span class="none">none</span>
  );

/** Shows which data set manages the user, who wrote it last, who blocked it, and the direct reports. */
function Origin({ user }: { user: User }) {
  const { uuid, updated, status, managed_by, managed_part, blocked_by } = user;
  const key = `${uuid} ${updated}`;
  const byImport = useResource(key, (signal) => findLatestEvent(uuid, { actor_kind: 'import' }, signal));
  const block = useResource(status === 'Blocked' ? key : undefined, (signal) =>
    findLatestEvent(uuid, { action: ['user.blocked'] }, signal),
  );
  const reports = useReportCount(uuid);
  return (
    <>
      <Fact name="data_set">
        {managed_by ? (
          [managed_by, managed_part].filter(Boolean).join(', part ')
        ) : (
          <span class="none">none</span>
        )}
      </Fact>
      {byImport.data && (
        <Fact name="last_import">
          <EventSource event={byImport.data} />
        </Fact>
      )}
      {status === 'Blocked' && block.data && (
        <Fact name="blocked_by">
          <EventSource event={block.data} />
          {blocked_by && `, because the file of ${blocked_by} did not contain the user`}
          {block.data.reason && `: ${block.data.reason}`}
        </Fact>
      )}
      <Fact name="direct_reports">
        {reports > 0 ? (
          <a href={toHref('/users', { manager_uuid: uuid })}>{formatCount(reports, 'user')}</a>
        ) : (
          <span class="none">none</span>
        )}
      </Fact>
    </>
  );
}

/** Shows the actor and the time of an audit event. */
const EventSource = ({ event }: { event: AuditEvent }) => (
  <>
    <ActorName actor={event.actor} /> <Time at={event.time} />
  </>
);

/** Shows the read-only fields of a user: times, groups, roles from groups and UUID. */
export function Facts({ user, isFull }: { user: User; isFull: boolean }) {
  const groups = useResource(isFull ? user.uuid : undefined, (signal) => loadGroups(user.uuid, signal));
  return (
    <Card title="Record">
      <dl class="facts side-facts">
        <Fact name="created">
          <Time at={user.created} />
        </Fact>
        <Fact name="updated">
          <Time at={user.updated} />
        </Fact>
        {user.last_access !== undefined && (
          <Fact name="last_access">
            <Time at={user.last_access} />
          </Fact>
        )}
        {isFull && <Origin user={user} />}
        {isFull && (
          <Fact name="groups">
            {groups.data ? <Names values={groups.data.map(({ display_name }) => display_name)} /> : '…'}
          </Fact>
        )}
        <Fact name="group_roles">
          <Names values={user.group_roles} />
        </Fact>
        <Fact name="uuid">
          <Copy text={user.uuid} what="UUID" />
        </Fact>
      </dl>
    </Card>
  );
}
