/** Maximum number of words that are kept for each column. */
const MAX_WORDS = 1000;

/** Rows with a word, and the line of the first one. */
interface WordRows {
  rows: number;
  line: number;
}

/** Words of a file that only `*` of the profile's values matches, by source column. */
export class UnlistedWords {
  private readonly columns = new Map<string, Map<string, WordRows>>();

  add(column: string, word: string, line: number): void {
    const words = this.columns.get(column) ?? new Map<string, WordRows>();
    this.columns.set(column, words);
    const known = words.get(word);
    if (known) known.rows++;
    else if (words.size < MAX_WORDS) words.set(word, { rows: 1, line });
  }

  *list(): Generator<{ column: string; word: string } & WordRows> {
    for (const [column, words] of this.columns)
      for (const [word, rows] of words) yield { column, word, ...rows };
  }

  /** Returns the words of this file and of earlier files, for the next run. */
  mergeInto(earlier: KnownWords): KnownWords {
    const all = new Map(Object.entries(earlier));
    for (const [column, words] of this.columns)
      all.set(column, [...new Set([...(all.get(column) ?? []), ...words.keys()])].slice(0, MAX_WORDS));
    return Object.fromEntries(all);
  }
}

/** Words of completed runs by source column. */
export type KnownWords = Readonly<Record<string, readonly string[]>>;
