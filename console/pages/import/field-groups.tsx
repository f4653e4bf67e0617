import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Row } from '../../api/client.js';
import { formatCount, formatNumber, formatValue, getLabel } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Table } from '../../parts/table.js';
import { getVisibleChanges } from './runs.js';
import { RowPerson } from './row-person.js';

/** A change of one field of a person. */
interface ShownChange {
  line: number | null;
  person: ComponentChildren;
  change: Pick<Row['changes'][number], 'old' | 'new' | 'old_name' | 'new_name'>;
}

/** Rows shown for each field at first. */
const INITIAL_ROWS = 5;
/** Rows shown after expanding a field. */
const MAX_ROWS = 100;

/** Groups the changes of rows by field, with the most frequently changed field first. */
export function FieldGroups({ rows, isPart }: { rows: readonly Row[]; isPart: boolean }) {
  const shown = rows.flatMap((row) => {
    const person = <RowPerson row={row} />;
    return getVisibleChanges(row).map((change) => ({ line: row.line, person, change }));
  });
  const groups = Map.groupBy(shown, ({ change }) => change.field);
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
          <p class="small muted">{formatNewValues(changes)}</p>
          <ChangeTable caption={`Changes to ${getLabel(field)}`} changes={changes.slice(0, INITIAL_ROWS)} />
          {changes.length > INITIAL_ROWS && <MoreRows field={field} changes={changes.slice(INITIAL_ROWS)} />}
        </section>
      ))}
    </>
  );
}

/** Formats how many rows get each value: "207 Active, 104 Blocked". Returns an empty text for many different values. */
function formatNewValues(changes: readonly ShownChange[]): string {
  const counts = Map.groupBy(changes, ({ change }) => change.new_name || formatValue(change.new) || 'empty');
  if (counts.size > INITIAL_ROWS || counts.size === changes.length) return '';
  return [...counts].map(([value, { length }]) => `${formatNumber(length)} ${value}`).join(', ');
}

/** Further rows of a field, rendered only when expanded. */
function MoreRows({ field, changes }: { field: string; changes: readonly ShownChange[] }) {
  const [isOpen, setOpen] = useState(false);
  const text = formatCount(changes.length, 'more row');
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{changes.length > MAX_ROWS ? `The first ${MAX_ROWS} of ${text}` : text}</summary>
      {isOpen && (
        <ChangeTable caption={`Changes to ${getLabel(field)}`} changes={changes.slice(0, MAX_ROWS)} />
      )}
    </details>
  );
}

/** Shows changes of one field with their lines and people. */
export const ChangeTable = ({ caption, changes }: { caption: string; changes: readonly ShownChange[] }) => (
  <Table
    caption={caption}
    rows={changes}
    getKey={(change) => String(changes.indexOf(change))}
    columns={[
      { title: 'Line', isNumber: true, cell: ({ line }) => line ?? '–' },
      { title: 'Person', cell: ({ person }) => person },
      { title: 'Change', cell: ({ change }) => <Change of={change} /> },
    ]}
  />
);
