import type { Row, Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { href, usePlace } from '../../lib/place.js';
import { label, words } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Pager } from '../../parts/pager.js';
import { Pill, type Tone } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Tabs } from '../../parts/tabs.js';
import { FieldGroups } from './field-groups.js';
import { countOf, countsOf, loadRows, outcomeText } from './runs.js';
import { Who } from './who.js';

const TONES: Record<Row['outcome'], Tone> = {
  created: 'good',
  updated: 'busy',
  unchanged: 'quiet',
  blocked: 'warn',
  reactivated: 'good',
  skipped: 'quiet',
  error: 'bad',
  missing: 'warn',
};

const columnsOf = (isPlan: boolean): readonly Column<Row>[] => [
  { name: 'line', title: 'Line', isNumber: true, cell: ({ line }) => line ?? '–' },
  {
    name: 'outcome',
    title: 'Outcome',
    cell: ({ outcome }) => <Pill tone={TONES[outcome]}>{words(outcome)}</Pill>,
  },
  {
    name: 'who',
    title: 'External ID',
    cell: (row) => <Who row={row} isNew={isPlan && row.outcome === 'created'} />,
  },
  { name: 'changes', title: 'Changes', cell: (row) => <What row={row} /> },
];

function What({ row: { changes, errors, outcome } }: { row: Row }) {
  return (
    <dl class="diff">
      {errors.map(({ field, code, message }) => (
        <div key={field + code}>
          <dt>{label(field)}</dt>
          <dd>
            {message} <code class="muted">{code}</code>
          </dd>
        </div>
      ))}
      {changes.map((change) => (
        <div key={change.field}>
          <dt>{label(change.field)}</dt>
          <dd>
            <Change from={change.old} to={change.new} isFirst={outcome === 'created'} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The rows of a run by outcome, as a list or by the fields that change. Unchanged rows are counted, not kept. */
export function Rows({ run, isPlan }: { run: Run; isPlan: boolean }) {
  const { query } = usePlace();
  const [outcome, after, view] = [query.get('outcome') ?? '', query.get('after') ?? '', query.get('view')];
  const key = isWorking(run) ? undefined : [run.id, run.state, outcome, after].join();
  const { data, problem, isLoading } = useResource(key, (signal) => loadRows(run.id, outcome, after, signal));
  if (isWorking(run) || countsOf(run).length === 0) return null;
  const kept = countsOf(run).filter(([each]) => each !== 'unchanged');
  const rows = data?.rows ?? [];
  return (
    <section>
      <Tabs
        name="outcome"
        label="Outcomes"
        tabs={[
          { value: '', text: 'All changes' },
          ...kept.map(([each]) => ({
            value: each,
            text: outcomeText(run, each, isPlan),
            count: countOf(run, each),
          })),
        ]}
      />
      <p class="buttons toolbar">
        <a
          class="button"
          href={href(`/imports/${run.id}`, { outcome, after, view: view === 'fields' ? '' : 'fields' })}
        >
          {view === 'fields' ? 'Row by row' : 'Grouped by field'}
        </a>
        {outcome === 'error' && (
          <span class="muted">
            Download the failed rows, correct them, and send that file: it closes the gap.
          </span>
        )}
      </p>
      <ProblemNote problem={problem} />
      {view === 'fields' ? (
        <FieldGroups
          rows={outcome === '' ? rows.filter((row) => row.outcome !== 'created') : rows}
          isPart={after !== '' || data?.next !== ''}
        />
      ) : (
        <Table
          caption="Rows"
          columns={columnsOf(isPlan)}
          rows={rows}
          keyOf={({ line, uuid, external_id }) => `${line ?? ''} ${uuid ?? ''} ${external_id}`}
          isLoading={isLoading}
          empty="No row has changed anything."
        />
      )}
      <Pager count={data?.count} shown={rows.length} unit={['row', 'rows']} next={data?.next ?? ''} />
    </section>
  );
}
