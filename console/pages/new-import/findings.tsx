import type { Preview } from '../../api/upload.js';
import { counted, label, shown, words } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';

const ROWS = 5;
const PROBLEMS = 50;

/** What is wrong with the beginning of the file: all of it at once. */
export function Problems({ preview }: { preview: Preview }) {
  // Of an unknown column its own line says so.
  const problems = preview.problems.filter(({ code }) => code !== 'unknown_column');
  if (problems.length === 0) return null;
  return (
    <Card title={counted(problems.length, 'problem')} isFlush>
      <Table
        caption="Problems"
        rows={problems.slice(0, PROBLEMS)}
        keyOf={({ line, field, code, message }) => `${line ?? ''} ${field} ${code} ${message}`}
        columns={[
          { name: 'line', title: 'Line', isNumber: true, cell: ({ line }) => line ?? '–' },
          { name: 'field', title: 'Field', cell: ({ field }) => field && label(field) },
          {
            name: 'what',
            title: 'What is wrong',
            cell: ({ message, refuses }) => (
              <>
                {refuses && <Pill tone="bad">Refuses the file</Pill>} {message}
              </>
            ),
          },
          { name: 'value', title: 'Cell', cell: ({ value }) => value !== undefined && <code>{value}</code> },
        ]}
      />
    </Card>
  );
}

/** The first rows as the service reads them. */
export function FirstRows({ preview: { rows } }: { preview: Preview }) {
  if (rows.length === 0) return null;
  return (
    <Card title="First rows" isFlush>
      <Table
        caption="First rows"
        rows={rows.slice(0, ROWS)}
        keyOf={({ line }) => String(line)}
        columns={[
          { name: 'line', title: 'Line', isNumber: true, cell: ({ line }) => line },
          { name: 'outcome', title: 'Would be', cell: ({ outcome }) => words(outcome) },
          {
            name: 'fields',
            title: 'Fields',
            cell: ({ fields }) => (
              <dl class="diff">
                {Object.entries(fields).map(([name, value]) => (
                  <div key={name}>
                    <dt>{label(name)}</dt>
                    <dd>{shown(value) || <span class="none">empty</span>}</dd>
                  </div>
                ))}
              </dl>
            ),
          },
        ]}
      />
    </Card>
  );
}
