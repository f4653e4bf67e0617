import type { Preview } from '../../api/upload.js';
import { counted, label, shown, words } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';

const ROWS = 5;
const KINDS = 50;
const LINES = 5;

type Found = Preview['problems'][number];

/** The same problem of several lines. */
interface Kind {
  first: Found;
  lines: number[];
}

function kindsOf(problems: readonly Found[]): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const problem of problems) {
    const { line, field, code, message } = problem;
    const name = JSON.stringify([field, code, message]);
    const kind = kinds.get(name) ?? { first: problem, lines: [] };
    if (line !== null) kind.lines.push(line);
    kinds.set(name, kind);
  }
  return [...kinds.values()];
}

/** "2, 3, 4, 5, 6 and 12 more" */
function linesText(lines: readonly number[]): string {
  const more = lines.length - LINES;
  return `${lines.slice(0, LINES).join(', ')}${more > 0 ? ` and ${more} more` : ''}` || '–';
}

/** What is wrong with the beginning of the file: all of it at once, the same problem of several lines once. */
export function Problems({ preview }: { preview: Preview }) {
  // Of an unknown column its own line says so.
  const kinds = kindsOf(preview.problems.filter(({ code }) => code !== 'unknown_column'));
  if (kinds.length === 0) return null;
  return (
    <Card title={counted(kinds.length, 'problem')} isFlush>
      <Table
        caption="Problems"
        rows={kinds.slice(0, KINDS)}
        keyOf={({ first: { field, code, message } }) => `${field} ${code} ${message}`}
        columns={[
          {
            name: 'what',
            title: 'What is wrong',
            cell: ({ first: { field, message, refuses } }) => (
              <>
                {refuses && <Pill tone="bad">Refuses the file</Pill>} {field && `${label(field)} `}
                {message}
              </>
            ),
          },
          { name: 'lines', title: 'Lines', cell: ({ lines }) => linesText(lines) },
          {
            name: 'value',
            title: 'First cell',
            cell: ({ first: { value } }) => value !== undefined && <code>{value}</code>,
          },
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
