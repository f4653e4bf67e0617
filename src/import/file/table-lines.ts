import { MAX_COLUMNS } from '../runs/import-profile.js';
import { isBlank } from './columns.js';
import { DELIMITERS } from './csv-reader.js';
import type { SkippedLines } from './text-decoder.js';

const SEPARATOR_LINE = /^"?sep=.?"?$/i;
const TOTAL =
  /^(grand )?(totals?|total\w+|sum|summe|suma|somme|gesamt\w*|anzahl|count|razem|totaal|ende|end of|fin)(?!\p{L})/iu;
/** Maximum number of lines that are examined before and after the table. */
const MAX_AROUND = 30;
const SAMPLE_LINES = 100;
/** Minimum number of known column names by which a header is recognized. */
const MIN_NAMES = 2;

/** Number of characters of a cell that are examined. Column names are shorter. */
const MAX_CELL = 300;

/** Splits a line into cells, of which long ones are truncated. Delimiters inside quotes do not split a cell. */
const splitLine = (line: string, delimiter: string): string[] =>
  line
    .replace(/"(?:[^"]|"")*"/g, (cell) => cell.slice(1, -1).replaceAll(delimiter, ' '))
    .split(delimiter)
    .slice(0, MAX_COLUMNS)
    .map((cell) => cell.trim().slice(0, MAX_CELL));

/**
 * Finds the delimiter of a table, its header, and the notes and totals after its last row. The header is the line with
 * the most known names, or the first line with the usual number of cells. Returns undefined if the text has no table
 * with several columns.
 * @param isWhole false if the text is only the start of a file.
 */
export function findTable(
  text: string,
  isWhole: boolean,
  isKnown: (name: string) => boolean,
  given?: string,
): { delimiter: string; skipped: SkippedLines } | undefined {
  const lines = text.split(/\r\n?|\n/);
  if (lines.at(-1) === '') lines.pop();
  const candidates = (given === undefined ? DELIMITERS : [given]).flatMap((delimiter) => {
    const sample = lines.slice(0, SAMPLE_LINES).map((line) => splitLine(line, delimiter));
    const byWidth = Map.groupBy(sample, (cells) => cells.length);
    return sample.slice(0, MAX_AROUND).map((cells, line) => {
      const names = cells.filter(isKnown).length;
      const isFilled = 2 * cells.filter(isBlank).length < cells.length;
      const similar = cells.length > 1 && isFilled ? (byWidth.get(cells.length)?.length ?? 0) : 0;
      return { line, delimiter, cells, score: names < MIN_NAMES ? similar : names * SAMPLE_LINES };
    });
  });
  const [header] = candidates.toSorted(
    (a, b) => b.score - a.score || b.cells.length - a.cells.length || a.line - b.line,
  );
  if (!header || header.score === 0) return undefined;
  const { line, delimiter, cells } = header;
  const hasText = lines.slice(0, line).some((each) => !isBlank(each) && !SEPARATOR_LINE.test(each));
  const last = isWhole ? countLastLines(lines.slice(line + 1), cells.length, delimiter) : 0;
  return { delimiter, skipped: { first: hasText ? line : 0, last } };
}

/** Counts the lines after the last row, from the first note or total to the end. */
function countLastLines(rows: readonly string[], width: number, delimiter: string): number {
  let last = 0;
  let block = 0;
  // The first row is never a note.
  for (const [index, line] of rows.slice(1).slice(-MAX_AROUND).toReversed().entries()) {
    const cells = splitLine(line, delimiter);
    const [first = '', ...others] = cells.filter((cell) => !isBlank(cell));
    // A line with an open quote is the end of a cell with several lines.
    if ((line.match(/"/g)?.length ?? 0) % 2 === 1) break;
    const hasLabel = others.some((cell) => cell.endsWith(':'));
    const isTotal = TOTAL.test(first) && (2 * others.length < width || hasLabel);
    const isNote = others.length === 0 && width > 2 && /\s/.test(first);
    if (first === '') last = Math.max(last, block);
    else if (isTotal || isNote) last = block = index + 1;
    else if (cells.length === width) break;
    else block = index + 1;
  }
  return last;
}
