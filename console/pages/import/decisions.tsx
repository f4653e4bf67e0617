import type { Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { loadEvents } from '../../api/users.js';
import { formatCode } from '../../lib/text.js';
import { TableCard } from '../../parts/page.js';
import { Time } from '../../parts/time.js';
import { Actor } from '../audit/parties.js';

const MAX_EVENTS = 50;

/** Lists the audit events of a run: who started, approved, rejected or reverted it, and why. */
export function Decisions({ run }: { run: Run }) {
  const key = isWorking(run) ? undefined : `${run.id} ${run.state}`;
  const { data } = useResource(key, (signal) => loadEvents({ target: run.id, limit: MAX_EVENTS }, signal));
  if (!data) return null;
  return (
    <TableCard
      title="History"
      rows={data.rows.toReversed()}
      getKey={({ id }) => id}
      columns={[
        { title: 'Time', cell: ({ time }) => <Time at={time} /> },
        { title: 'Action', cell: ({ action }) => formatCode(action) },
        { title: 'Actor', cell: ({ actor }) => <Actor actor={actor} /> },
        { title: 'Reason', cell: ({ reason }) => reason && <q>{reason}</q> },
      ]}
    />
  );
}
