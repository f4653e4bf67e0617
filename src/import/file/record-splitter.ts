/** Matches the text of a quoted cell and its closing quote. */
const QUOTED = /[^"]*(?:""[^"]*)*"/y;
const NEXT_LINE_END = /\r\n?|\n/g;

interface SplitRecord {
  /** Cells of the record. An empty line has no cells. */
  cells: string[];
  /** Index of the first character after the record. */
  end: number;
}

/**
 * Splits text into records (RFC 4180). Takes a tenth of the time of csv-parse, but reports no errors: it stops before a
 * record that is incomplete or invalid.
 */
export class RecordSplitter {
  private readonly unquoted = new RegExp(`[^"\\r\\n${this.delimiter}]*`, 'y');

  /** @param delimiter one of the characters `,`, `;`, `|` and tab. */
  constructor(private readonly delimiter: string) {}

  /**
   * Passes the records of a text to `onRecord`.
   * @returns the rest of the text, which begins with an incomplete or invalid record.
   */
  splitText(text: string, onRecord: (cells: string[]) => void): string {
    let at = 0;
    for (let record = this.readRecord(text, at); record; record = this.readRecord(text, at)) {
      onRecord(record.cells);
      at = record.end;
    }
    return text.slice(at);
  }

  private readRecord(text: string, start: number): SplitRecord | undefined {
    const end = findLineEnd(text, start);
    if (end === undefined) return undefined;
    const line = text.slice(start, end.index);
    if (line.includes('"')) return this.readQuotedRecord(text, start);
    return { cells: line === '' ? [] : line.split(this.delimiter), end: end.next };
  }

  private readQuotedRecord(text: string, start: number): SplitRecord | undefined {
    const { delimiter, unquoted } = this;
    const cells: string[] = [];
    for (let at = start; ; at += delimiter.length) {
      const isQuoted = text[at] === '"';
      const pattern = isQuoted ? QUOTED : unquoted;
      const from = (pattern.lastIndex = isQuoted ? at + 1 : at);
      if (!pattern.test(text)) return undefined;
      at = pattern.lastIndex;
      cells.push(isQuoted ? text.slice(from, at - 1).replaceAll('""', '"') : text.slice(from, at));
      if (text.startsWith(delimiter, at)) continue;
      const end = findLineEnd(text, at);
      return end?.index === at ? { cells, end: end.next } : undefined;
    }
  }
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
