/** Marks a file as UTF-8 for spreadsheets. */
export const BOM = '\ufeff';

/**
 * Text that a spreadsheet would run as a formula, and text that looks escaped already. Some take the full-width forms of
 * the signs for the signs.
 */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** RFC 4180 does not require quotes around outer white space, but some programs trim unquoted cells. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * One line of a CSV file (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading `'` (OWASP, CSV
 * injection).
 */
export const csvLine = (cells: readonly string[]): string => delimitedLine(cells, ',');

/** As `csvLine`, with another delimiter. */
export function delimitedLine(cells: readonly string[], delimiter: string): string {
  // Readers skip an empty line.
  if (cells.length === 1 && cells[0] === '') return '""\r\n';
  return `${cells.map((cell) => toCell(cell, delimiter)).join(delimiter)}\r\n`;
}

function toCell(value: string, delimiter: string): string {
  const cell = escapeFormula(value);
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The text as a cell that no spreadsheet runs as a formula. */
export function escapeFormula(value: string): string {
  return FORMULA.test(value) ? `'${value}` : value;
}

/** Removes the `'` that `csvLine`, or a person, has put before a formula. It reverses `csvLine` exactly. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
