import type { AuditEvent, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { formatCount, getLabel } from '../../lib/text.js';
import { toHref } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { Copy } from '../../parts/copy.js';
import { Card, FactList, type Facts } from '../../parts/page.js';
import { Tags } from '../../parts/pill.js';
import { Time } from '../../parts/time.js';
import { loadEvents, loadGroups } from '../../api/users.js';
import { useReportCount } from './reports-note.js';

const NONE = <span class="none">none</span>;

/** Builds the facts that only Webmasters may see: data set, last import, block, direct reports and groups. */
function useWebmasterFacts(
  { uuid, updated, status, managed_by, managed_part, blocked_by }: User,
  isFull: boolean,
): Facts {
  const key = isFull ? `${uuid} ${updated}` : undefined;
  const groups = useResource(isFull ? uuid : undefined, (signal) => loadGroups(uuid, signal));
  const names = groups.data?.map(({ display_name }) => display_name);
  const latest = { target: uuid, limit: 1 };
  const [byImport] =
    useResource(key, (signal) => loadEvents({ ...latest, actor_kind: 'import' }, signal)).data?.rows ?? [];
  const [block] =
    useResource(status === 'Blocked' ? key : undefined, (signal) =>
      loadEvents({ ...latest, action: ['user.blocked'] }, signal),
    ).data?.rows ?? [];
  const reports = useReportCount(isFull ? uuid : undefined);
  if (!isFull) return [];
  return [
    ['Data set', managed_by ? [managed_by, managed_part].filter(Boolean).join(', part ') : NONE],
    [getLabel('last_import'), byImport && <EventSource event={byImport} />],
    [
      'Blocked by',
      status === 'Blocked' && block && (
        <>
          <EventSource event={block} />
          {blocked_by &&
            `, because the file of ${blocked_by} ${managed_by ? 'set the status Blocked' : 'did not contain the user'}`}
          {block.reason && `: ${block.reason}`}
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
    ['Groups', names ? <Tags values={names} none="none" /> : '…'],
  ];
}

/** Shows the actor and the time of an audit event. */
const EventSource = ({ event }: { event: AuditEvent }) => (
  <>
    <ActorName actor={event.actor} /> <Time at={event.time} />
  </>
);

/** Shows the read-only fields of a user: times, origin, roles from groups and UUID. */
export const RecordCard = ({ user, isFull }: { user: User; isFull: boolean }) => (
  <Card title="Record">
    <FactList
      isNarrow
      facts={[
        ['Created', <Time key="" at={user.created} />],
        ['Updated', <Time key="" at={user.updated} />],
        ['Last access', user.last_access !== undefined && <Time key="" at={user.last_access} />],
        ...useWebmasterFacts(user, isFull),
        [getLabel('group_roles'), <Tags key="" values={user.group_roles} none="none" />],
        ['UUID', <Copy key="" text={user.uuid} what="UUID" />],
      ]}
    />
  </Card>
);
