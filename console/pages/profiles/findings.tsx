import type { Preview } from '../../api/upload.js';
import { formatCode, formatCount, formatValue, getLabel } from '../../lib/text.js';
import { Pill } from '../../parts/pill.js';
import { Table } from '../../parts/table.js';

const MAX_PROBLEMS = 50;
const MAX_LINES = 5;
const MAX_ROWS = 20;

type PreviewProblem = Preview['problems'][number];

/** A problem with all lines in which it occurs. */
interface ProblemGroup {
  first: PreviewProblem;
  lines: number[];
}

/** Groups equal problems. Unknown columns are left out, because they are problems of the columns. */
export function groupProblems({ problems }: Preview): ProblemGroup[] {
  const kinds = new Map<string, ProblemGroup>();
  for (const problem of problems.filter(({ code }) => code !== 'unknown_column')) {
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
  const kinds = groupProblems(preview);
  if (kinds.length === 0) return null;
  return (
    <Table
      caption="Problems"
      rows={kinds.slice(0, MAX_PROBLEMS)}
      getKey={({ first: { field, code, message } }) => `${field} ${code} ${message}`}
      columns={[
        {
          title: 'Problem',
          cell: ({ first: { field, message, refuses } }) => (
            <>
              {refuses && <Pill tone="bad">Prevents the import</Pill>} {field && `${getLabel(field)} `}
              {message}
            </>
          ),
        },
        { title: 'Lines', cell: ({ lines }) => formatLines(lines) },
        { title: 'First value', cell: ({ first: { value } }) => value !== undefined && <code>{value}</code> },
      ]}
    />
  );
}

/** Formats the expected outcomes of the first rows: "100 rows: 97 created, 3 error". */
export function formatOutcomes({ rows }: Preview): string {
  const groups = Map.groupBy(rows, ({ outcome }) => outcome);
  const texts = [...groups].map(([outcome, { length }]) => `${length} ${formatCode(outcome).toLowerCase()}`);
  return `${formatCount(rows.length, 'row')}${texts.length > 0 ? ': ' : ''}${texts.join(', ')}`;
}

/** Shows the first rows as the service reads them. */
export function FirstRows({ preview: { rows } }: { preview: Preview }) {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row.fields)))];
  return (
    <Table
      caption="First rows"
      rows={rows.slice(0, MAX_ROWS)}
      getKey={({ line }) => String(line)}
      columns={[
        { title: 'Line', isNumber: true, cell: ({ line }) => line },
        { title: 'Outcome', cell: ({ outcome }) => formatCode(outcome) },
        ...fields.map((field) => ({
          name: field,
          title: getLabel(field),
          cell: (row: Preview['rows'][number]) => formatValue(row.fields[field]),
        })),
      ]}
    />
  );
}
