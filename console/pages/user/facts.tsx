import type { AuditEvent, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { formatCount, getLabel } from '../../lib/text.js';
import { toHref } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { Copy } from '../../parts/copy.js';
import { Card, FactList, type Facts } from '../../parts/page.js';
import { Tags } from '../../parts/pill.js';
import { Time } from '../../parts/time.js';
import { findLatestEvent, loadGroups } from '../../api/users.js';
import { useReportCount } from './reports-note.js';

const NONE = <span class="none">none</span>;

/** Builds the facts on the data set of the user, the last import, the block and the direct reports. */
function useOrigin({ uuid, updated, status, managed_by, managed_part, blocked_by }: User): Facts {
  const key = `${uuid} ${updated}`;
  const byImport = useResource(key, (signal) => findLatestEvent(uuid, { actor_kind: 'import' }, signal));
  const block = useResource(status === 'Blocked' ? key : undefined, (signal) =>
    findLatestEvent(uuid, { action: ['user.blocked'] }, signal),
  );
  const reports = useReportCount(uuid);
  return [
    ['Data set', managed_by ? [managed_by, managed_part].filter(Boolean).join(', part ') : NONE],
    [getLabel('last_import'), byImport.data && <EventSource event={byImport.data} />],
    [
      'Blocked by',
      status === 'Blocked' && block.data && (
        <>
          <EventSource event={block.data} />
          {blocked_by &&
            `, because the file of ${blocked_by} ${managed_by ? 'states this' : 'did not contain the user'}`}
          {block.data.reason && `: ${block.data.reason}`}
        </>
      ),
    ],
    [
      'Direct reports',
      reports > 0 ? (
        <a href={toHref('/users', { manager_uuid: uuid })}>{formatCount(reports, 'user')}</a>
      ) : (
        NONE
      ),
    ],
  ];
}

/** Shows the actor and the time of an audit event. */
const EventSource = ({ event }: { event: AuditEvent }) => (
  <>
    <ActorName actor={event.actor} /> <Time at={event.time} />
  </>
);

/** Shows the read-only fields of a user: times, roles from groups and UUID. */
export const RecordCard = ({ user, more = [] }: { user: User; more?: Facts }) => (
  <Card title="Record">
    <FactList
      isNarrow
      facts={[
        ['Created', <Time key="" at={user.created} />],
        ['Updated', <Time key="" at={user.updated} />],
        ['Last access', user.last_access !== undefined && <Time key="" at={user.last_access} />],
        ...more,
        [getLabel('group_roles'), <Tags key="" values={user.group_roles} none="none" />],
        ['UUID', <Copy key="" text={user.uuid} what="UUID" />],
      ]}
    />
  </Card>
);

/** Shows the read-only fields of a user, with the origin and the groups, to a Webmaster. */
export function FullRecordCard({ user }: { user: User }) {
  const groups = useResource(user.uuid, (signal) => loadGroups(user.uuid, signal));
  const names = groups.data?.map(({ display_name }) => display_name);
  const origin = useOrigin(user);
  return (
    <RecordCard
      user={user}
      more={[...origin, ['Groups', names ? <Tags key="" values={names} none="none" /> : '…']]}
    />
  );
}
