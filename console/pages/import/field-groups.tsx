import { useState } from 'preact/hooks';
import type { Row } from '../../api/client.js';
import { counted, label } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Table } from '../../parts/table.js';
import { changesOf } from './runs.js';
import { Who } from './who.js';

type Changed = { row: Row; change: Row['changes'][number] };

/** Rows shown for each field at first. */
const FEW = 5;
/** Rows shown after expanding a field. */
const MORE = 100;

/** Groups the changes of rows by field, with the most frequently changed field first. */
export function FieldGroups({ rows, isPart }: { rows: readonly Row[]; isPart: boolean }) {
  const groups = new Map<string, Changed[]>();
  for (const row of rows)
    for (const change of changesOf(row)) {
      const group = groups.get(change.field);
      if (group) group.push({ row, change });
      else groups.set(change.field, [{ row, change }]);
    }
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  if (sorted.length === 0) return <p class="muted">These rows do not change any fields.</p>;
  return (
    <>
      {isPart && (
        <p class="muted">Only the {counted(rows.length, 'row')} of this page. The plan has more rows.</p>
      )}
      {sorted.map(([field, changes]) => (
        <section key={field} class="group">
          <h3>
            {label(field)} <span class="badge">{counted(changes.length, 'row')}</span>
          </h3>
          <Rows field={field} changes={changes.slice(0, FEW)} />
          {changes.length > FEW && <More field={field} changes={changes.slice(FEW)} />}
        </section>
      ))}
    </>
  );
}

/** Further rows of a field, rendered only when expanded. */
function More({ field, changes }: { field: string; changes: readonly Changed[] }) {
  const [isOpen, setOpen] = useState(false);
  const text = counted(changes.length, 'more row');
  return (
    <details
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{changes.length > MORE ? `The first ${MORE} of ${text}` : text}</summary>
      {isOpen && <Rows field={field} changes={changes.slice(0, MORE)} />}
    </details>
  );
}

const Rows = ({ field, changes }: { field: string; changes: readonly Changed[] }) => (
  <Table
    caption={`Changes of ${label(field)}`}
    rows={changes}
    keyOf={({ row }) => `${row.line ?? ''} ${row.uuid ?? ''} ${row.external_id}`}
    columns={[
      { name: 'line', title: 'Line', isNumber: true, cell: ({ row }) => row.line ?? '–' },
      { name: 'who', title: 'Person', cell: ({ row }) => <Who row={row} /> },
      {
        name: 'change',
        title: 'Change',
        cell: ({ row, change }) => <Change of={change} isFirst={row.outcome === 'created'} />,
      },
    ]}
  />
);
