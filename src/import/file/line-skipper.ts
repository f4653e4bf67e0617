import { FileError } from './file-error.js';

/** Lines of text around the table of a file: titles, dates, totals. */
export interface SkippedLines {
  first: number;
  last: number;
}

/** The last lines of a file are kept in memory until it ends. */
const MAX_KEPT = 1024 * 1024;
const LINE_END = /\r\n?|\n/g;

/**
 * A text without its first and its last lines, whatever is in them: quotes do not count there. A line end behind the last
 * line ends it, and is not another line.
 * @throws FileError `row_too_long` where the last lines together have more than a million characters.
 */
export async function* withoutLines(
  text: AsyncGenerator<string>,
  { first, last }: SkippedLines,
): AsyncGenerator<string> {
  let before = first;
  let kept = '';
  try {
    for await (const piece of text) {
      kept += piece;
      // The other half of a line end may be in the next piece.
      const whole = kept.endsWith('\r') ? kept.slice(0, -1) : kept;
      const cut = before > 0 ? lineEnds(whole, before) : [];
      before -= cut.length;
      kept = kept.slice(cut.at(-1) ?? 0);
      if (before > 0) {
        if (cut.length === 0 && kept.length > MAX_KEPT) throw tooLong('first');
        continue;
      }
      const end = last === 0 ? kept.length - (kept.endsWith('\r') ? 1 : 0) : beginOfLast(kept, last);
      if (end > 0) yield kept.slice(0, end);
      kept = kept.slice(end);
      if (kept.length > MAX_KEPT) throw tooLong('last');
    }
    if (before > 0) return;
    const end = last === 0 ? kept.length : beginOfLast(kept, last, true);
    if (end > 0) yield kept.slice(0, end);
  } finally {
    await text.return(undefined);
  }
}

/** Where the first `most` lines end. */
function lineEnds(text: string, most: number): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(LINE_END)) {
    ends.push(match.index + match[0].length);
    if (ends.length === most) break;
  }
  return ends;
}

/**
 * Where the last lines begin; 0 where there are no more than these.
 * @param ended whether the text ends here: until then its last line end may be that of the last line but one.
 */
function beginOfLast(text: string, lines: number, ended = false): number {
  let at = text.length;
  if (ended || text.endsWith('\n') || text.endsWith('\r')) at = withoutEnd(text, at);
  for (let line = 0; line < lines; line++) {
    const begin = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
    if (begin === 0 || at === 0) return 0;
    if (line === lines - 1) return begin;
    at = withoutEnd(text, begin);
  }
  return at;
}

/** The place before the line end that `at` is behind of, if it is. */
function withoutEnd(text: string, at: number): number {
  if (text[at - 1] === '\n') return text[at - 2] === '\r' ? at - 2 : at - 1;
  return text[at - 1] === '\r' ? at - 1 : at;
}

const tooLong = (which: 'first' | 'last'): FileError =>
  new FileError(
    'row_too_long',
    `The ${which} lines of the file, which the profile skips, are longer than a million characters; correct skip_${which === 'first' ? '' : 'last_'}lines.`,
  );
