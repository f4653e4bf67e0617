import type { Attribute, AttributePath } from './attribute.js';
import { comparison } from './comparison.js';
import { UnknownAttribute, invalidFilter, quoted } from './errors.js';
import type { Filter } from './filter.js';
import { type Token, tokensOf } from './filter-lexer.js';
import type { ResourceDescription } from './resource-description.js';

/** Characters of a filter or a path. */
export const MAX_FILTER = 2048;
const MAX_COMPARISONS = 20;
const MAX_LEVELS = 10;

/**
 * A filter (RFC 7644 §3.4.2.2). `attr[f].sub op v` becomes one element filter `f and sub op v`.
 * @param others types of resource searched at the same time: an attribute that only they have is `none` here
 * @throws ProblemError `invalid_filter` with the position, counted from 1
 */
export function parseFilter(
  text: string,
  resource: ResourceDescription,
  others: readonly ResourceDescription[] = [],
): Filter {
  if (text.length > MAX_FILTER) {
    throw invalidFilter(MAX_FILTER + 1, `a filter may have at most ${MAX_FILTER} characters`);
  }
  const parser = new FilterParser(tokensOf(text), resource, others);
  const filter = parser.either();
  parser.expect('end', 'and, or, or the end');
  return filter;
}

/** What names mean: those of the resource, or inside `[…]` the parts of one attribute. */
type Scope = (name: string) => AttributePath | 'elsewhere' | undefined;

/** A parser by recursive descent; the levels are bounded, so is the stack. */
export class FilterParser {
  private at = 0;
  private comparisons = 0;
  private levels = 0;
  private scope: Scope;

  constructor(
    private readonly tokens: readonly Token[],
    resource: ResourceDescription,
    others: readonly ResourceDescription[] = [],
  ) {
    this.scope = (name) =>
      resource.find(name) ?? (others.some((other) => other.find(name)) ? 'elsewhere' : undefined);
  }

  /** Filters joined by `or`, which binds weakest. */
  either(): Filter {
    return this.joined('or', () => this.joined('and', () => this.single()));
  }

  expect(kind: Token['kind'], what: string): Token {
    const token = this.next();
    if (token.kind !== kind) throw invalidFilter(token.position, `${shown(token)} is not ${what}`);
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  peek(): Token {
    const token = this.tokens[this.at] ?? this.tokens.at(-1);
    if (!token) throw invalidFilter(1, 'there is nothing');
    return token;
  }

  /** `[…]` behind the attribute: what its elements must satisfy. */
  inBrackets(attribute: Attribute): Filter {
    const bracket = this.expect('[', 'an opening bracket');
    if (attribute.type !== 'complex') {
      throw invalidFilter(bracket.position, `${attribute.path} has no parts to choose by`);
    }
    const outer = this.scope;
    this.scope = (name) => {
      const sub = attribute.sub(name);
      return sub && { attribute, sub };
    };
    const filter = this.nested(bracket, () => this.either());
    this.expect(']', 'and, or, or a closing bracket');
    this.scope = outer;
    return filter;
  }

  /** The name of a part, as in `[…].value`; undefined where none follows. */
  partBehindBrackets(attribute: Attribute): Attribute | undefined {
    const token = this.peek();
    if (token.kind !== 'word' || !token.text.startsWith('.')) return undefined;
    const bracket = this.tokens[this.at - 1];
    if (bracket && bracket.position + 1 !== token.position) return undefined;
    this.next();
    const sub = attribute.sub(token.text.slice(1));
    if (!sub) throw new UnknownAttribute('invalid_filter', token.text, token.position);
    return sub;
  }

  private joined(word: 'and' | 'or', part: () => Filter): Filter {
    const filters = [part()];
    while (isWord(this.peek(), word)) {
      this.separate(this.next());
      filters.push(part());
    }
    const [only] = filters;
    return filters.length === 1 && only ? only : { kind: word, filters };
  }

  private single(): Filter {
    const token = this.peek();
    const isNot = isWord(token, 'not');
    if (isNot) {
      this.next();
      if (this.peek().kind !== '(') throw invalidFilter(token.position, 'not needs parentheses: not (…)');
    }
    if (!isNot && token.kind !== '(') return this.condition();
    const open = this.expect('(', 'an opening parenthesis');
    const filter = this.nested(open, () => this.either());
    this.expect(')', 'and, or, or a closing parenthesis');
    return isNot ? { kind: 'not', filter } : filter;
  }

  private nested(open: Token, inner: () => Filter): Filter {
    if (++this.levels > MAX_LEVELS) {
      throw invalidFilter(open.position, `a filter may have at most ${MAX_LEVELS} levels of brackets`);
    }
    const filter = inner();
    this.levels--;
    return filter;
  }

  private condition(): Filter {
    const name = this.expect('word', 'an attribute');
    this.separate(name);
    const path = this.scope(name.text);
    if (path === undefined) throw new UnknownAttribute('invalid_filter', name.text, name.position);
    if (path === 'elsewhere') return this.elsewhere();
    if (this.peek().kind !== '[') return this.compared(path, name);
    if (path.sub) throw invalidFilter(this.peek().position, `${path.sub.path} has no parts to choose by`);
    const filter = this.inBrackets(path.attribute);
    const sub = this.partBehindBrackets(path.attribute);
    if (!sub) return { kind: 'element', attribute: path.attribute, filter };
    const compared = this.compared({ attribute: path.attribute, sub }, name);
    // `ne` and `eq null` deny the whole: no such element has the value.
    return compared.kind === 'not'
      ? { kind: 'not', filter: element(path.attribute, filter, compared.filter) }
      : element(path.attribute, filter, compared);
  }

  private compared(path: AttributePath, name: Token): Filter {
    const operator = this.operator(name);
    const value = operator.text.toLowerCase() === 'pr' ? undefined : this.value();
    return comparison(path, operator, value);
  }

  /** A condition on an attribute of other types: read, not resolved. */
  private elsewhere(): Filter {
    if (this.peek().kind === '[') {
      this.skipBrackets();
      const part = this.peek();
      if (part.kind !== 'word' || !part.text.startsWith('.')) return { kind: 'none' };
      this.next();
    }
    const operator = this.operator(this.peek());
    if (operator.text.toLowerCase() === 'pr') return { kind: 'none' };
    const value = this.value();
    const denied = operator.text.toLowerCase() === 'ne';
    const empty = value.text === '' || (value.kind === 'word' && value.text.toLowerCase() === 'null');
    return denied !== empty ? { kind: 'not', filter: { kind: 'none' } } : { kind: 'none' };
  }

  private skipBrackets(): void {
    while (this.peek().kind !== ']' && this.peek().kind !== 'end') this.next();
    this.expect(']', 'a closing bracket');
  }

  private operator(name: Token): Token {
    if (++this.comparisons > MAX_COMPARISONS) {
      throw invalidFilter(name.position, `a filter may have at most ${MAX_COMPARISONS} comparisons`);
    }
    const token = this.expect('word', 'an operator');
    this.separate(token);
    if (!OPERATORS.has(token.text.toLowerCase())) {
      throw invalidFilter(token.position, `${shown(token)} is not one of ${[...OPERATORS].join(', ')}`);
    }
    return token;
  }

  private value(): Token {
    const token = this.next();
    if (token.kind !== 'string' && token.kind !== 'word') {
      throw invalidFilter(token.position, `${shown(token)} is not a value`);
    }
    this.separate(token);
    return token;
  }

  /** Words are apart: `userName eq"x"and` is no filter. */
  private separate(token: Token): void {
    if (!token.apart) throw invalidFilter(token.position, 'a blank is missing');
  }
}

const OPERATORS = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr']);

function element(attribute: Attribute, chosen: Filter, also: Filter): Filter {
  return { kind: 'element', attribute, filter: { kind: 'and', filters: [chosen, also] } };
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'word' && token.text.toLowerCase() === word;
}

function shown(token: Token): string {
  return token.kind === 'end' ? 'the end' : quoted(token.text);
}
