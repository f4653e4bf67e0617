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
  deactivations: '%n users would be blocked. More than %l need approval.',
  reactivations: '%n blocked users would be reactivated. More than %l need approval.',
  changed_field: '%f would change for %n users. More than %l changes need approval.',
  emptied_field: '%f would be emptied for %n users. More than %l need approval.',
  moved_values: '%n users would get a value that another user has now. More than %l need approval.',
  same_value: '%f would get the same value in %n rows. More than %l need approval.',
  garbled_text: '%n values would lose letters or be encoded twice. More than %l need approval.',
  changed_keys:
    '%n users would be created, and the same number are missing. More than %l such pairs need approval.',
  shrunken_file: 'The file has %n rows. Files with fewer than %l rows need approval.',
  old_file:
    'The file repeats an earlier file or would undo changes of the last run for %n users. More than %l need approval.',
  foreign_dataset: '%n of the matched users belong to another data set. More than %l need approval.',
  errors: '%n rows failed. More than %l need approval.',
  after_revert: '%n changes that were reverted would be applied again. More than %l need approval.',
  key_fuse: 'The API key would block %n users within an hour. More than %l need approval.',
};

function formatGuard({ name, field, value, limit }: Guard): string {
  const known =
    SENTENCES[name] ?? `${formatCode(name)}${field ? ' of %f' : ''}: %n. More than %l need approval.`;
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
