interface Varying {
  is: RegExp;
  /** The same one is meant wherever the document shows it. */
  isBound?: true;
  /** What may stand there; else what `is` describes. */
  pattern?: string;
}

/** What differs from one run to the next. */
const VARYING: readonly Varying[] = [
  { is: /rollcall_[0-9a-f]{12}_[\w-]{43}_[0-9a-f]{8}/, isBound: true },
  { is: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, isBound: true },
  { is: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/ },
  { is: /\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/ },
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

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Compares what a document shows with what its commands print, and knows for what its ids and keys stand. */
export class Transcript {
  private readonly meant: Map<string, string>;

  constructor(knows: Record<string, string> = {}) {
    this.meant = new Map(Object.entries(knows));
  }

  /** The script of a document, with the ids and keys that its commands have really printed. */
  scriptOf(text: string): string {
    return text.replace(BOUND, (shown) => this.meant.get(shown) ?? shown);
  }

  /**
   * Where a part is left out there is `…`. JSON may be laid out in any way. Of an HTTP answer only some headers need be shown.
   * @throws Error with both texts where they differ.
   */
  compare(kind: string, shown: string, printed: string): void {
    const same = kind === 'json' ? compact : trimmed;
    const { pattern, names } = this.patternOf(same(shown));
    const found = pattern.exec(same(kind === 'http' ? shownPart(shown, printed) : printed));
    if (!found) throw new Error(`The document shows\n${shown}\nbut its commands print\n${printed}`);
    names.forEach((name, index) => this.meant.set(name, found[index + 1] ?? ''));
  }

  /** What may be printed where a document shows this. */
  private standsFor(token: string, rule: Varying | undefined, names: string[]): string {
    const known = this.meant.get(token);
    if (known !== undefined) return escaped(known);
    if (names.includes(token)) return `\\${names.indexOf(token) + 1}`;
    const pattern = rule?.pattern ?? rule?.is.source ?? '';
    if (!rule?.isBound) return pattern;
    names.push(token);
    return `(${pattern})`;
  }

  /** Matches what a text stands for. @returns also the ids and keys that it shows for the first time, a group each. */
  private patternOf(text: string): { pattern: RegExp; names: string[] } {
    const names: string[] = [];
    let pattern = '';
    let at = 0;
    for (const { 0: token, index, ...groups } of text.matchAll(TOKEN)) {
      const rule = VARYING.find((_, n) => groups[n + 1] !== undefined);
      pattern += escaped(text.slice(at, index));
      at = index + token.length;
      pattern += this.standsFor(token, rule, names);
    }
    return { pattern: new RegExp(`^${pattern}${escaped(text.slice(at))}$`), names };
  }
}

const compact = (text: string): string => text.replace(/\s+/g, '');
/** Without spaces at the ends of lines, which no reader sees. */
const trimmed = (text: string): string => text.replace(/[ \r]+$/gm, '').replace(/^\n+|\s+$/g, '');

/** An HTTP answer with only those headers that a document shows. */
function shownPart(shown: string, printed: string): string {
  const [head = '', body] = printed.split(/\r?\n\r?\n/);
  const [status, ...headers] = head.split(/\r?\n/);
  const names = (shown.split('\n\n')[0] ?? '').split('\n').slice(1);
  const kept = names.map((line) => headers.find((header) => nameOf(header) === nameOf(line)) ?? '');
  return [status, ...kept, ...(body === undefined ? [] : ['', body])].join('\n');
}

const nameOf = (header: string): string => header.split(':')[0]?.toLowerCase() ?? '';
