const NEXT_LINE_END = /\r\n?|\n/g;

interface SplitRecord {
  /** Cells of the record. An empty line has no cells. */
  cells: string[];
  /** Index of the first character after the record. */
  end: number;
}

/** A quote that RFC 4180 does not allow: text follows a closing quote, or a cell has a quote in the middle. */
export type QuoteFault = 'text_after_quote' | 'quote_in_cell';

/** Splits text into records (RFC 4180). Stops before a record that is incomplete or invalid. */
export class RecordSplitter {
  private readonly unquoted = new RegExp(`[^"\\r\\n${this.delimiter}]*`, 'y');

  /** @param delimiter one of the characters `,`, `;`, `|` and tab. */
  constructor(private readonly delimiter: string) {}

  /**
   * Passes the records of a text to `onRecord`.
   * @returns the rest of the text, which begins with an incomplete or invalid record, and the fault of an invalid record.
   */
  splitText(
    text: string,
    onRecord: (cells: string[]) => void,
  ): { rest: string; fault: QuoteFault | undefined } {
    for (let at = 0; ;) {
      const record = this.readRecord(text, at);
      if (typeof record !== 'object') return { rest: text.slice(at), fault: record };
      onRecord(record.cells);
      at = record.end;
    }
  }

  /** Returns undefined for an incomplete record. */
  private readRecord(text: string, start: number): SplitRecord | QuoteFault | undefined {
    const end = findLineEnd(text, start);
    if (end === undefined) return undefined;
    const line = text.slice(start, end.index);
    if (line.includes('"')) return this.readQuotedRecord(text, start);
    return { cells: line === '' ? [] : line.split(this.delimiter), end: end.next };
  }

  private readQuotedRecord(text: string, start: number): SplitRecord | QuoteFault | undefined {
    const { delimiter } = this;
    const cells: string[] = [];
    for (let at = start; ; at += delimiter.length) {
      const from = at;
      const isQuoted = text[from] === '"';
      at = isQuoted ? findClosingQuote(text, from + 1) + 1 : this.findCellEnd(text, from);
      // A quote at the end of the text may be the first one of a doubled quote.
      if (isQuoted && (at === 0 || at === text.length)) return undefined;
      cells.push(isQuoted ? text.slice(from + 1, at - 1).replaceAll('""', '"') : text.slice(from, at));
      if (text.startsWith(delimiter, at)) continue;
      const end = findLineEnd(text, at);
      if (end?.index === at) return { cells, end: end.next };
      if (at === text.length || text.slice(at) === '\r') return undefined;
      return isQuoted ? 'text_after_quote' : 'quote_in_cell';
    }
  }

  private findCellEnd(text: string, from: number): number {
    this.unquoted.lastIndex = from;
    this.unquoted.test(text);
    return this.unquoted.lastIndex;
  }
}

/** Returns the index of the quote that closes a cell, or -1. A doubled quote belongs to the text of the cell. */
function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

/**
 * Finds the next line end. Returns undefined if the text has none, or if it ends with a CR that a line feed may still
 * follow.
 */
function findLineEnd(text: string, from: number): { index: number; next: number } | undefined {
  NEXT_LINE_END.lastIndex = from;
  const match = NEXT_LINE_END.exec(text);
  const next = NEXT_LINE_END.lastIndex;
  return match && !(match[0] === '\r' && next === text.length) ? { index: match.index, next } : undefined;
}
