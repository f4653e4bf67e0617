import type { Preview } from '../../api/upload.js';
import { formatCount, getLabel, formatValue, formatCode } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';

const MAX_ROWS = 5;
const MAX_PROBLEMS = 50;
const MAX_LINES = 5;

type PreviewProblem = Preview['problems'][number];

/** A problem with all lines in which it occurs. */
interface ProblemGroup {
  first: PreviewProblem;
  lines: number[];
}

function groupProblems(problems: readonly PreviewProblem[]): ProblemGroup[] {
  const kinds = new Map<string, ProblemGroup>();
  for (const problem of problems) {
    const { line, field, code, message } = problem;
    const name = JSON.stringify([field, code, message]);
    const kind = kinds.get(name) ?? { first: problem, lines: [] };
    if (line !== null) kind.lines.push(line);
    kinds.set(name, kind);
  }
  return [...kinds.values()];
}

/** Formats line numbers: "2, 3, 4, 5, 6 and 12 more". */
function formatLines(lines: readonly number[]): string {
  const more = lines.length - MAX_LINES;
  return `${lines.slice(0, MAX_LINES).join(', ')}${more > 0 ? ` and ${more} more` : ''}` || '–';
}

/** Lists the problems in the start of the file, grouped by problem. */
export function Problems({ preview }: { preview: Preview }) {
  // Unknown columns are already marked in the table of columns.
  const kinds = groupProblems(preview.problems.filter(({ code }) => code !== 'unknown_column'));
  if (kinds.length === 0) return null;
  return (
    <Card title={formatCount(kinds.length, 'problem')} isFlush>
      <Table
        caption="Problems"
        rows={kinds.slice(0, MAX_PROBLEMS)}
        getKey={({ first: { field, code, message } }) => `${field} ${code} ${message}`}
        columns={[
          {
            name: 'what',
            title: 'Problem',
            cell: ({ first: { field, message, refuses } }) => (
              <>
                {refuses && <Pill tone="bad">Prevents the import</Pill>} {field && `${getLabel(field)} `}
                {message}
              </>
            ),
          },
          { name: 'lines', title: 'Lines', cell: ({ lines }) => formatLines(lines) },
          {
            name: 'value',
            title: 'First value',
            cell: ({ first: { value } }) => value !== undefined && <code>{value}</code>,
          },
        ]}
      />
    </Card>
  );
}

/** Shows the first rows as the service reads them. */
export function FirstRows({ preview: { rows } }: { preview: Preview }) {
  if (rows.length === 0) return null;
  return (
    <Card title="First rows" isFlush>
      <Table
        caption="First rows"
        rows={rows.slice(0, MAX_ROWS)}
        getKey={({ line }) => String(line)}
        columns={[
          { name: 'line', title: 'Line', isNumber: true, cell: ({ line }) => line },
          { name: 'outcome', title: 'Outcome', cell: ({ outcome }) => formatCode(outcome) },
          {
            name: 'fields',
            title: 'Fields',
            cell: ({ fields }) => (
              <dl class="diff">
                {Object.entries(fields).map(([name, value]) => (
                  <div key={name}>
                    <dt>{getLabel(name)}</dt>
                    <dd>{formatValue(value) || <span class="none">empty</span>}</dd>
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
