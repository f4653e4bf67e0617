import type { Guard, Row, Run } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { getLabel, formatNumber, formatCode } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';
import { MAX_IDS, loadRowsById } from './runs.js';
import { RowPerson } from './row-person.js';

/** Text of each guard. `%n` is the number, `%l` the limit, `%f` the field. */
const SENTENCES: Record<string, string> = {
  deactivations: '%n users would be blocked. Approval is needed for more than %l.',
  reactivations: '%n blocked users would be reactivated. Approval is needed for more than %l.',
  changed_field: '%f would change for %n users. Approval is needed for more than %l.',
  emptied_field: '%f would be cleared for %n users. Approval is needed for more than %l.',
  moved_values:
    '%n users would get a value that currently belongs to another user. Approval is needed for more than %l.',
  same_value: '%f would get the same value for %n users. Approval is needed for more than %l.',
  garbled_text: '%n values would lose characters or be encoded twice. Approval is needed for more than %l.',
  changed_keys:
    '%n external IDs are new, and many known ones are missing or in conflict. Approval is needed for more than %l of each.',
  shrunken_file: 'The file has only %n rows. Approval is needed if there are fewer than %l.',
  old_file:
    'For %n users, the file repeats an earlier file or would undo changes made by the last run. Approval is needed for more than %l.',
  foreign_dataset: '%n matched users belong to another data set. Approval is needed for more than %l.',
  errors: '%n rows have new errors. Approval is needed for more than %l.',
  after_revert: 'Reverted changes would be applied again to %n users. Approval is needed for more than %l.',
  key_fuse:
    'With this import, the API key would have blocked %n users within an hour. Approval is needed for more than %l.',
};

function formatGuard({ name, field, value, limit }: Guard): string {
  const known =
    SENTENCES[name] ??
    `${formatCode(name)}${field ? ' of %f' : ''}: %n. Approval is needed for more than %l.`;
  return known
    .replace('%n', formatNumber(value))
    .replace('%l', formatNumber(limit))
    .replace('%f', field ? getLabel(field) : 'A field');
}

/** Loads the rows of the examples that the guards show, by external id. */
function useExampleRows(run: Run, hits: readonly Guard[]): ReadonlyMap<string, Row> {
  const shown = hits.flatMap(({ examples }) => examples.map((example) => example.external_id));
  const ids = [...new Set(shown.filter((id) => id !== ''))].slice(0, MAX_IDS);
  const { data } = useResource(ids.length > 0 ? [run.id, run.state, ...ids].join() : undefined, (signal) =>
    loadRowsById(run.id, ids, signal),
  );
  return data ?? new Map<string, Row>();
}

/** Shows every tripped guard with its numbers, a hint and example rows. */
export function Guards({ run }: { run: Run }) {
  const hits = run.guards.filter(({ hit }) => hit);
  const waits = run.state === 'needs_approval';
  const people = useExampleRows(run, hits);
  if (hits.length === 0) return null;
  return (
    <Card title={waits ? 'Why this import needs approval' : 'Tripped guards'}>
      {waits && (
        <p class="muted">
          No user has been changed yet. Review the guards below, then approve or reject the import.
        </p>
      )}
      {hits.map((guard) => (
        <article key={`${guard.name} ${guard.field ?? ''}`} class="guard">
          <h3>
            <Pill tone="warn">{formatCode(guard.name)}</Pill> {formatGuard(guard)}
          </h3>
          <p class="muted">{guard.hint}</p>
          {guard.examples.length > 0 && (
            <Table
              caption={`Examples: ${formatCode(guard.name)}${guard.field ? `, ${getLabel(guard.field)}` : ''}`}
              rows={guard.examples}
              getKey={({ line, external_id }) => `${line ?? ''} ${external_id}`}
              columns={[
                {
                  name: 'line',
                  title: 'Line',
                  isNumber: true,
                  cell: ({ line }) => line ?? '–',
                },
                {
                  name: 'who',
                  title: 'Person',
                  cell: ({ external_id: id }) => <RowPerson row={people.get(id) ?? { external_id: id }} />,
                },
                {
                  name: 'change',
                  title: 'Change',
                  cell: (row) => <Change of={row} isFirst={row.old === null} />,
                },
              ]}
            />
          )}
        </article>
      ))}
    </Card>
  );
}
