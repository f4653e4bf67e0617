import type { Guard, Row, Run } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { label, number, words } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';
import { MOST_IDS, loadRowsOf } from './runs.js';
import { Who } from './who.js';

/** What each guard counts, and where it stops. `%n` is the number, `%l` the limit, `%f` the field. */
const SENTENCES: Record<string, string> = {
  deactivations: '%n users would be blocked; up to %l pass without a question.',
  reactivations: '%n blocked users would become active again; up to %l pass without a question.',
  changed_field: '%f would get another value for %n users; up to %l pass without a question.',
  emptied_field: '%f would be emptied for %n users; up to %l pass without a question.',
  moved_values: '%n rows take a value that another row gives up; up to %l pass without a question.',
  same_value: '%f would get one same value on %n rows; up to %l pass without a question.',
  garbled_text: '%n values would lose letters or be encoded twice; up to %l pass without a question.',
  changed_keys: '%n users would be created while as many go missing; up to %l pass without a question.',
  shrunken_file: 'The file has %n rows; at least %l are expected after the last run.',
  old_file: 'The file repeats an earlier one or takes back changes of the last run: %n, and %l pass.',
  foreign_dataset: '%n of the matched users belong to another data set; up to %l pass without a question.',
  errors: '%n rows failed; up to %l pass without a question.',
  after_revert: '%n changes that a revert has undone would come back; up to %l pass without a question.',
  key_fuse: 'The key would block %n users; up to %l pass without a question.',
};

function sentence({ name, field, value, limit }: Guard): string {
  const known =
    SENTENCES[name] ?? `${words(name)}${field ? ' of %f' : ''}: %n, and %l pass without a question.`;
  return known
    .replace('%n', number(value))
    .replace('%l', number(limit))
    .replace('%f', field ? label(field) : 'A field');
}

/** External id → its row, of the rows that the guards show. */
function usePeople(run: Run, hits: readonly Guard[]): ReadonlyMap<string, Row> {
  const shown = hits.flatMap(({ examples }) => examples.map((example) => example.external_id));
  const ids = [...new Set(shown.filter((id) => id !== ''))].slice(0, MOST_IDS);
  const { data } = useResource(ids.length > 0 ? [run.id, run.state, ...ids].join() : undefined, (signal) =>
    loadRowsOf(run.id, ids, signal),
  );
  return data ?? new Map<string, Row>();
}

/** Why the run waits: every guard that was hit, as a sentence with its numbers, a reason and rows. */
export function Guards({ run }: { run: Run }) {
  const hits = run.guards.filter(({ hit }) => hit);
  const waits = run.state === 'needs_approval';
  const people = usePeople(run, hits);
  if (hits.length === 0) return null;
  return (
    <Card title={waits ? 'Why it waits for you' : 'What the guards found'}>
      {waits && (
        <p class="muted">Nothing has been written. Look at what stands out, then approve or reject.</p>
      )}
      {hits.map((guard) => (
        <article key={`${guard.name} ${guard.field ?? ''}`} class="guard">
          <h3>
            <Pill tone="warn">{words(guard.name)}</Pill> {sentence(guard)}
          </h3>
          <p class="muted">{guard.hint}</p>
          {guard.examples.length > 0 && (
            <Table
              caption={`Rows of ${words(guard.name)}${guard.field ? `, ${label(guard.field)}` : ''}`}
              rows={guard.examples}
              keyOf={({ line, external_id }) => `${line ?? ''} ${external_id}`}
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
                  cell: ({ external_id: id }) => <Who row={people.get(id) ?? { external_id: id }} />,
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
