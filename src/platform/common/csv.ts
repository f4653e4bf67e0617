/** Byte order mark, by which spreadsheet programs detect UTF-8. */
export const BOM = '\ufeff';

/**
 * Pattern of text that a spreadsheet would run as a formula, including the full-width signs that some programs accept.
 * Also matches a formula after `'`. Otherwise, `unescapeFormula` would remove a `'` that belongs to the text.
 */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/**
 * Pattern of cells that need quotes. It includes leading and trailing white space, which some programs trim in unquoted
 * cells.
 */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * Formats cells as a line of a CSV file (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading
 * `'` (OWASP).
 */
export const toCsvLine = (cells: readonly string[]): string => toDelimitedLine(cells, ',');

export function toDelimitedLine(cells: readonly string[], delimiter: string): string {
  // A single empty cell is quoted, because CSV readers would skip an empty line.
  if (cells.length === 1 && cells[0] === '') return '""\r\n';
  return `${cells.map((cell) => toCell(cell, delimiter)).join(delimiter)}\r\n`;
}

function toCell(value: string, delimiter: string): string {
  const cell = escapeFormula(value);
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Puts a `'` before text that a spreadsheet would run as a formula. */
export function escapeFormula(value: string): string {
  return FORMULA.test(value) ? `'${value}` : value;
}

/** Removes the `'` before a formula. It is the exact inverse of `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
