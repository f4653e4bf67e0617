import type { Row } from '../../api/client.js';
import { counted, label } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Table } from '../../parts/table.js';
import { Who } from './who.js';

/** The changes of these rows, of a page where there are more, by field, the field that changes most often first: what stands out is seen at once. */
export function FieldGroups({ rows, isPart }: { rows: readonly Row[]; isPart: boolean }) {
  const groups = new Map<string, { row: Row; change: Row['changes'][number] }[]>();
  for (const row of rows)
    for (const change of row.changes)
      groups.set(change.field, [...(groups.get(change.field) ?? []), { row, change }]);
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  if (sorted.length === 0) return <p class="muted">No field changes on this page.</p>;
  return (
    <>
      {sorted.map(([field, changes]) => (
        <section key={field} class="group">
          <h3>
            {label(field)}{' '}
            <span class="badge">
              {counted(changes.length, 'row')}
              {isPart && ' on this page'}
            </span>
          </h3>
          <Table
            caption={`Changes of ${label(field)}`}
            rows={changes}
            keyOf={({ row }) => `${row.line ?? ''} ${row.uuid ?? ''} ${row.external_id}`}
            columns={[
              { name: 'line', title: 'Line', isNumber: true, cell: ({ row }) => row.line ?? '–' },
              { name: 'who', title: 'External ID', cell: ({ row }) => <Who row={row} /> },
              {
                name: 'change',
                title: 'Change',
                cell: ({ row, change }) => (
                  <Change from={change.old} to={change.new} isFirst={row.outcome === 'created'} />
                ),
              },
            ]}
          />
        </section>
      ))}
    </>
  );
}
