/** Matches a cell that a spreadsheet would run as a formula, as `src/platform/common/csv.ts` does. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const readCell = (text: string): string => {
  const cell = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
};

const writeCell = (cell: string): string => {
  const escaped = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${escaped.replaceAll('"', '""')}"`;
};

/** Parses the complete lines at the start of a CSV file of the service. @param limit maximum number of lines. */
export function parseCsv(text: string, delimiter: string, limit: number): string[][] {
  const cells = new RegExp(`("(?:[^"]|"")*"|[^"\\r\\n\\${delimiter}]*)(\\${delimiter}|\\r\\n)`, 'gy');
  const lines: string[][] = [];
  let line: string[] = [];
  for (const [, cell = '', end] of text.matchAll(cells)) {
    line.push(readCell(cell));
    if (end === delimiter) continue;
    lines.push(line);
    line = [];
    if (lines.length === limit) break;
  }
  return lines;
}

/** Formats lines as a CSV file of the service. */
export const formatCsv = (lines: readonly (readonly string[])[], delimiter: string): string =>
  lines.map((cells) => `${cells.map(writeCell).join(delimiter)}\r\n`).join('');
