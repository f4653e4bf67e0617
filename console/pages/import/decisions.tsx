import { api, ask, type Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { words } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Actor } from '../audit/party.js';

const MOST = 50;

async function load(id: string, signal: AbortSignal) {
  const params = { query: { target: id, limit: MOST } };
  return (await ask(api.GET('/api/0.3/audit', { params, signal }))).data.Results.toReversed();
}

/** Lists the audit events of a run: who started, approved, rejected or reverted it, and why. */
export function Decisions({ run }: { run: Run }) {
  const key = isWorking(run) ? undefined : `${run.id} ${run.state}`;
  const { data } = useResource(key, (signal) => load(run.id, signal));
  if (!data) return null;
  return (
    <Card title="History" isFlush>
      <Table
        caption="History"
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          { name: 'time', title: 'Time', cell: ({ time }) => <Time at={time} /> },
          { name: 'action', title: 'Action', cell: ({ action }) => words(action) },
          { name: 'actor', title: 'Actor', cell: ({ actor }) => <Actor actor={actor} /> },
          { name: 'reason', title: 'Reason', cell: ({ reason }) => reason && <q>{reason}</q> },
        ]}
      />
    </Card>
  );
}
