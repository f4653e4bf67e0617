import { api, unwrap, type Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { formatCode } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Actor } from '../audit/parties.js';

const MAX_EVENTS = 50;

async function loadDecisions(id: string, signal: AbortSignal) {
  const params = { query: { target: id, limit: MAX_EVENTS } };
  return (await unwrap(api.GET('/api/0.3/audit', { params, signal }))).data.Results.toReversed();
}

/** Lists the audit events of a run: who started, approved, rejected or reverted it, and why. */
export function Decisions({ run }: { run: Run }) {
  const key = isWorking(run) ? undefined : `${run.id} ${run.state}`;
  const { data } = useResource(key, (signal) => loadDecisions(run.id, signal));
  if (!data) return null;
  return (
    <Card title="History" isFlush>
      <Table
        caption="History"
        rows={data}
        getKey={({ id }) => id}
        columns={[
          { title: 'Time', cell: ({ time }) => <Time at={time} /> },
          { title: 'Action', cell: ({ action }) => formatCode(action) },
          { title: 'Actor', cell: ({ actor }) => <Actor actor={actor} /> },
          { title: 'Reason', cell: ({ reason }) => reason && <q>{reason}</q> },
        ]}
      />
    </Card>
  );
}
