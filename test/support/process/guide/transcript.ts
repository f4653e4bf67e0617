/** A kind of text that differs from one run to the next. */
interface Varying {
  is: RegExp;
  /** True if every occurrence in the document stands for the same value. */
  isBound?: true;
  /** Pattern of the actual text. The default is `is`. */
  pattern?: string;
}

/** All kinds of varying texts. */
const VARYING: readonly Varying[] = [
  { is: /rollcall_[0-9a-f]{12}_[\w-]{43}_[0-9a-f]{8}/, isBound: true },
  { is: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, isBound: true },
  { is: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/ },
  { is: /\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/ },
  { is: /(?<=took )\d+ s/ },
  { is: /\b[0-9a-f]{64}\b/ },
  { is: /\b[0-9a-f]{48}\b/ },
  { is: /(?<=Password {4})[\w-]{20}/ },
  { is: /(?<=Rollcall )\d+\.\d+\.\d+/ },
  { is: /(?<=127\.0\.0\.1:)\d+/ },
  { is: /…/, pattern: '[^]*?' },
];
const TOKEN = new RegExp(VARYING.map(({ is }) => `(${is.source})`).join('|'), 'g');
const BOUND = new RegExp(
  VARYING.filter(({ isBound }) => isBound)
    .map(({ is }) => is.source)
    .join('|'),
  'g',
);

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Compares the output in a document with the actual output. Remembers the actual values of ids and keys. */
export class Transcript {
  private readonly actual: Map<string, string>;

  constructor(knows: Record<string, string> = {}) {
    this.actual = new Map(Object.entries(knows));
  }

  /** Replaces ids and keys in a script of the document by the actual values. */
  scriptOf(text: string): string {
    return text.replace(BOUND, (shown) => this.actual.get(shown) ?? shown);
  }

  /**
   * Compares shown and actual output. An ellipsis (`…`) stands for an omitted part. JSON may be formatted differently,
   * and headers of an HTTP response may be omitted.
   * @throws Error with both texts if they differ.
   */
  compare(kind: string, shown: string, printed: string): void {
    const same = kind === 'json' ? removeSpaces : trimLines;
    const { pattern, names } = this.patternOf(same(shown));
    const found = pattern.exec(same(kind === 'http' ? selectHeaders(shown, printed) : printed));
    if (!found) throw new Error(`The document shows\n${shown}\nbut its commands print\n${printed}`);
    names.forEach((name, index) => this.actual.set(name, found[index + 1] ?? ''));
  }

  /** Returns the pattern of the actual texts for a varying text. */
  private toPattern(token: string, rule: Varying | undefined, names: string[]): string {
    const known = this.actual.get(token);
    if (known !== undefined) return escapeRegExp(known);
    if (names.includes(token)) return `\\${names.indexOf(token) + 1}`;
    const pattern = rule?.pattern ?? rule?.is.source ?? '';
    if (!rule?.isBound) return pattern;
    names.push(token);
    return `(${pattern})`;
  }

  /**
   * Builds a pattern that matches the actual output for a shown text.
   * @returns the pattern and the new ids and keys, one group for each.
   */
  private patternOf(text: string): { pattern: RegExp; names: string[] } {
    const names: string[] = [];
    let pattern = '';
    let at = 0;
    for (const { 0: token, index, ...groups } of text.matchAll(TOKEN)) {
      const rule = VARYING.find((_, n) => groups[n + 1] !== undefined);
      pattern += escapeRegExp(text.slice(at, index));
      at = index + token.length;
      pattern += this.toPattern(token, rule, names);
    }
    return { pattern: new RegExp(`^${pattern}${escapeRegExp(text.slice(at))}$`), names };
  }
}

const removeSpaces = (text: string): string => text.replace(/\s+/g, '');
/** Removes spaces at the ends of lines, and empty lines at both ends. */
const trimLines = (text: string): string => text.replace(/[ \r]+$/gm, '').replace(/^\n+|\s+$/g, '');

/** Reduces an HTTP response to the headers that a document shows. */
function selectHeaders(shown: string, printed: string): string {
  const [head = '', body] = printed.split(/\r?\n\r?\n/);
  const [status, ...headers] = head.split(/\r?\n/);
  const names = (shown.split('\n\n')[0] ?? '').split('\n').slice(1);
  const selected = names.map((line) => headers.find((header) => nameOf(header) === nameOf(line)) ?? '');
  return [status, ...selected, ...(body === undefined ? [] : ['', body])].join('\n');
}

const nameOf = (header: string): string => header.split(':')[0]?.toLowerCase() ?? '';
