/** Marks a file as UTF-8 for spreadsheets. */
export const BOM = '\ufeff';

/** What a spreadsheet would take for a formula, and what looks as if it had been disarmed already. */
const FORMULA = /^'*[=+\-@\t\r]/;
/** Outer white space needs none in RFC 4180, but some programs trim what is not quoted. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * One line of a CSV file (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading `'` (OWASP, CSV
 * injection). Own lines instead of a library, because that rule is ours and the rest is a quote.
 */
export function csvLine(cells: readonly string[]): string {
  // A line with nothing on it would be no row.
  return cells.length === 1 && cells[0] === '' ? '""\r\n' : `${cells.map(toCell).join(',')}\r\n`;
}

function toCell(value: string): string {
  const cell = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Takes off the `'` that `csvLine`, or a person, has put before a formula: what `csvLine` wrote comes back as it was. */
export function armed(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
