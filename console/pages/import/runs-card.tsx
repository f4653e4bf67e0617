import type { components } from '../../api/generated.js';
import { toHref } from '../../lib/url.js';
import { TableCard } from '../../parts/page.js';
import { Pill, StatePill } from '../../parts/pill.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Bar } from './bar.js';
import { getTitle } from './runs.js';

type Schemas = components['schemas'];

/** A run of a data set. */
interface DatasetRun {
  dataset: string;
  last_run: Schemas['ImportRunSummaryDto'] | Schemas['ImportRunDto'];
  /** Missing if the list has no column for it. */
  last_completed?: string | null;
  overdue?: boolean;
}

const COLUMNS: readonly Column<DatasetRun>[] = [
  {
    title: 'Data set',
    cell: ({ dataset, overdue = false }) => (
      <>
        <a href={toHref('/imports', { dataset })}>{dataset}</a> {overdue && <Pill tone="bad">Overdue</Pill>}
      </>
    ),
  },
  {
    title: 'File',
    cell: ({ last_run: run }) => <a href={toHref(`/imports/${run.id}`)}>{getTitle(run)}</a>,
  },
  { title: 'State', cell: ({ last_run: { state } }) => <StatePill state={state} /> },
  { title: 'Outcome', cell: ({ last_run: run }) => <Bar run={run} /> },
  { title: 'Received', cell: ({ last_run: { created } }) => <Time at={created} /> },
];
const COMPLETED: Column<DatasetRun> = {
  title: 'Last completed',
  cell: ({ last_completed: time }) => <Time at={time} />,
};

/** Lists runs with their data sets. */
export const RunsCard = ({ title, runs }: { title: string; runs: readonly DatasetRun[] }) => (
  <TableCard
    title={title}
    rows={runs}
    getKey={({ last_run: { id } }) => id}
    empty="No file has been imported yet."
    columns={runs[0]?.last_completed === undefined ? COLUMNS : [...COLUMNS, COMPLETED]}
  />
);
