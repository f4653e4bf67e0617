/** Byte order mark, by which spreadsheet programs detect UTF-8. */
export const BOM = '\ufeff';

/**
 * Pattern of text that a spreadsheet would run as a formula. It also matches such text after a `'`, which is escaped again,
 * so that unescaping restores it. Some programs also accept the full-width forms of the signs.
 */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/**
 * Pattern of cells that need quotes. RFC 4180 does not require quotes for leading or trailing white space, but some
 * programs trim unquoted cells.
 */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** Formats a line of a CSV file (RFC 4180). A formula gets a leading `'`, so that no spreadsheet runs it (OWASP). */
export const toCsvLine = (cells: readonly string[]): string => toDelimitedLine(cells, ',');

/** Formats a line as `toCsvLine` does, with another delimiter. */
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
