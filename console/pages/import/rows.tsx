import type { Row, Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { toHref, useUrl } from '../../lib/url.js';
import { getLabel } from '../../lib/text.js';
import { LinkButton } from '../../parts/button.js';
import { ChangeList } from '../../parts/change.js';
import { Pager } from '../../parts/pager.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { SearchField } from '../../parts/search-field.js';
import { type Column, Table } from '../../parts/table.js';
import { Tabs } from '../../parts/tabs.js';
import { FieldGroups } from './field-groups.js';
import {
  OUTCOME_TONES,
  getVisibleChanges,
  getCount,
  listOutcomes,
  loadManyRows,
  loadRows,
  formatOutcome,
} from './runs.js';
import { RowError } from './row-error.js';
import { RowPerson } from './row-person.js';

const buildColumns = (run: Run): readonly Column<Row>[] => [
  { title: 'Line', isNumber: true, cell: ({ line }) => line ?? '–' },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Pill tone={OUTCOME_TONES[outcome]}>{formatOutcome(run, outcome)}</Pill>,
  },
  { title: 'Person', cell: (row) => <RowPerson row={row} /> },
  { title: 'Changes', cell: (row) => <RowChanges row={row} run={run} /> },
];

function RowChanges({ row, run }: { row: Row; run: Run }) {
  return (
    <ChangeList changes={getVisibleChanges(row)}>
      {row.errors.map((error) => (
        <div key={error.field + error.code}>
          <dt>{getLabel(error.field)}</dt>
          <dd>
            {error.value && <q>{error.value}</q>} <RowError run={run} error={error} />
          </dd>
        </div>
      ))}
    </ChangeList>
  );
}

/** Shows the rows of a run by outcome, as a list or grouped by field. The service does not store unchanged rows. */
export function Rows({ run }: { run: Run }) {
  const { query } = useUrl();
  const getParam = (name: string): string => query.get(name) ?? '';
  const [outcome, person, view] = [getParam('outcome'), getParam('person'), getParam('view')];
  const filter = { outcome, person, code: getParam('code'), after: getParam('after') };
  const isGrouped = view === 'fields' && outcome !== 'error';
  const isHidden = isWorking(run) || view === 'correct' || listOutcomes(run).length === 0;
  const key = isHidden ? undefined : [run.id, run.state, view, ...Object.values(filter)].join();
  const { data, problem, isLoading } = useResource(key, (signal) =>
    (isGrouped ? loadManyRows : loadRows)(run.id, filter, signal),
  );
  if (isHidden) return null;
  const kept = listOutcomes(run).filter(([each]) => each !== 'unchanged');
  const rows = data?.rows ?? [];
  return (
    <section>
      <Tabs
        name="outcome"
        label="Outcomes"
        keeps={['person', 'view']}
        tabs={[
          { value: '', text: 'All changes' },
          ...kept.map(([each]) => ({
            value: each,
            text: formatOutcome(run, each),
            count: getCount(run, each),
          })),
        ]}
      />
      <div class="toolbar">
        <SearchField
          name="person"
          label="Find a person"
          placeholder="Name of a user, or a complete external ID"
        />
        {outcome !== 'error' && (
          <LinkButton
            text={isGrouped ? 'Row by row' : 'Group by field'}
            href={toHref(`/imports/${run.id}`, { outcome, person, view: isGrouped ? '' : 'fields' })}
          />
        )}
      </div>
      <ProblemNote problem={problem} />
      {isGrouped ? (
        <FieldGroups rows={rows} isPart={filter.after !== '' || data?.next !== ''} />
      ) : (
        <Table
          caption="Rows"
          columns={buildColumns(run)}
          rows={rows}
          getKey={({ line, uuid, external_id }) => `${line ?? ''} ${uuid ?? ''} ${external_id}`}
          isLoading={isLoading}
          empty={person ? 'The plan has no rows for this user.' : 'There are no rows with changes.'}
        />
      )}
      <Pager page={data} unit="row" />
    </section>
  );
}
