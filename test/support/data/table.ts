/** Writes rows of cells as a Markdown table, as prettier formats it. The first row is the heading. */
export function renderTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const cells = [head, head.map(() => ''), ...rows];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0), 3));
  const lines = cells.map((row, index) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0, index === 1 ? '-' : ' ')).join(' | '),
  );
  return lines.map((line) => `| ${line} |\n`).join('');
}
