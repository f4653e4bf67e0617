import { useState } from 'preact/hooks';
import type { Row } from '../../api/client.js';
import { formatCount, getLabel } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Table } from '../../parts/table.js';
import { getVisibleChanges } from './runs.js';
import { RowPerson } from './row-person.js';

type ChangedRow = { row: Row; change: Row['changes'][number] };

/** Rows shown for each field at first. */
const INITIAL_ROWS = 5;
/** Rows shown after expanding a field. */
const MAX_ROWS = 100;

/** Groups the changes of rows by field, with the most frequently changed field first. */
export function FieldGroups({ rows, isPart }: { rows: readonly Row[]; isPart: boolean }) {
  const groups = new Map<string, ChangedRow[]>();
  for (const row of rows)
    for (const change of getVisibleChanges(row)) {
      const group = groups.get(change.field);
      if (group) group.push({ row, change });
      else groups.set(change.field, [{ row, change }]);
    }
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  if (sorted.length === 0) return <p class="muted">These rows do not change any fields.</p>;
  return (
    <>
      {isPart && (
        <p class="muted">
          Only the {formatCount(rows.length, 'row')} on this page are shown. The plan has more rows.
        </p>
      )}
      {sorted.map(([field, changes]) => (
        <section key={field} class="group">
          <h3>
            {getLabel(field)} <span class="badge">{formatCount(changes.length, 'row')}</span>
          </h3>
          <Rows field={field} changes={changes.slice(0, INITIAL_ROWS)} />
          {changes.length > INITIAL_ROWS && <MoreRows field={field} changes={changes.slice(INITIAL_ROWS)} />}
        </section>
      ))}
    </>
  );
}

/** Further rows of a field, rendered only when expanded. */
function MoreRows({ field, changes }: { field: string; changes: readonly ChangedRow[] }) {
  const [isOpen, setOpen] = useState(false);
  const text = formatCount(changes.length, 'more row');
  return (
    <details
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{changes.length > MAX_ROWS ? `The first ${MAX_ROWS} of ${text}` : text}</summary>
      {isOpen && <Rows field={field} changes={changes.slice(0, MAX_ROWS)} />}
    </details>
  );
}

const Rows = ({ field, changes }: { field: string; changes: readonly ChangedRow[] }) => (
  <Table
    caption={`Changes to ${getLabel(field)}`}
    rows={changes}
    getKey={({ row }) => `${row.line ?? ''} ${row.uuid ?? ''} ${row.external_id}`}
    columns={[
      { name: 'line', title: 'Line', isNumber: true, cell: ({ row }) => row.line ?? '–' },
      { name: 'who', title: 'Person', cell: ({ row }) => <RowPerson row={row} /> },
      {
        name: 'change',
        title: 'Change',
        cell: ({ row, change }) => <Change of={change} isFirst={row.outcome === 'created'} />,
      },
    ]}
  />
);
