import type { Attribute, AttributePath, ResourceDescription } from './attribute.js';
import { instantOf, valuePath } from './attribute.js';
import { UnknownAttributeError, invalidFilter, quoted } from './errors.js';

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
type Operator = (typeof OPERATORS)[number];

/** `ne` is parsed as not `eq`; `eq null` and `eq ""` as not `pr`. */
export type CompareOperator = Exclude<Operator, 'ne' | 'pr'>;

/** True when a value of the path compares so. The value has the type of the attribute: times are ISO 8601 texts. */
export interface CompareFilter {
  readonly kind: 'compare';
  readonly path: AttributePath;
  readonly op: CompareOperator;
  readonly value: string | boolean;
}

/** True when one element of the list satisfies the filter, whose paths are `{attribute, sub}` of that element. */
interface ElementFilter {
  readonly kind: 'element';
  readonly attribute: Attribute;
  readonly filter: Filter;
}

/** A filter whose names are resolved. `none` is an attribute of other types of resource: it has no value here. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'none' }
  | CompareFilter
  | ElementFilter;

/** Characters of a filter or a path. */
export const MAX_FILTER = 2048;
const MAX_COMPARISONS = 20;
const MAX_LEVELS = 10;

/**
 * Parses a filter (RFC 7644 §3.4.2.2). `attr[f].sub op v` becomes one element filter `f and sub op v`.
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
  const parser = new FilterParser(text, resource, others);
  const filter = parser.either();
  parser.expect('end', 'and, or, or the end');
  return filter;
}

/** A part of the text of a filter. `position` counts from 1. */
interface Token {
  /** A bracket is its own kind. A `word` is an attribute, an operator or a value without quotes. */
  readonly kind: '(' | ')' | '[' | ']' | 'word' | 'string' | 'end';
  /** The meaning of a string, the text of anything else. */
  readonly text: string;
  readonly position: number;
  readonly followsBlank: boolean;
  /** Whether it follows a blank, a bracket or nothing. */
  readonly isApart: boolean;
}

const BLANKS = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\]|\\[^])*"/y;
const WORD = /[^\s()[\]"]+/y;

/** @throws ProblemError `invalid_filter` for a string that does not end or is no JSON string, and for unknown blanks */
function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0, followsBracket = true; ;) {
    const blanks = matchAt(BLANKS, text, at);
    at += blanks.length;
    const char = text[at];
    if (char === undefined) return tokens;
    const position = at + 1;
    const followsBlank = blanks !== '';
    const isString = char === '"';
    const literal = isBracket(char) ? char : matchAt(isString ? STRING : WORD, text, at);
    if (literal === '') {
      const what = isString ? 'the text in quotes has no end' : 'only spaces may separate words';
      throw invalidFilter(position, what);
    }
    tokens.push({
      kind: isBracket(char) ? char : isString ? 'string' : 'word',
      text: isString ? unescape(literal, position) : literal,
      position,
      followsBlank,
      isApart: followsBlank || followsBracket || isBracket(char),
    });
    at += literal.length;
    followsBracket = isBracket(char);
  }
}

/** Returns the text that a sticky pattern matches at `start`. */
function matchAt(pattern: RegExp, text: string, start: number): string {
  pattern.lastIndex = start;
  return pattern.test(text) ? text.slice(start, pattern.lastIndex) : '';
}

function isBracket(text: string): text is '(' | ')' | '[' | ']' {
  return text === '(' || text === ')' || text === '[' || text === ']';
}

function unescape(literal: string, position: number): string {
  let text: string;
  try {
    text = String(JSON.parse(literal));
  } catch {
    throw invalidFilter(position, 'the text in quotes is no JSON string: write \\\\ for a backslash');
  }
  if (!text.isWellFormed()) throw invalidFilter(position, 'the text in quotes holds broken Unicode');
  return text;
}

/** Resolves the names of a resource, or inside `[…]` the parts of one attribute. */
type Scope = (name: string) => AttributePath | 'elsewhere' | undefined;

/** A parser by recursive descent. The levels are bounded, so is the stack. */
export class FilterParser {
  private readonly tokens: readonly Token[];
  private readonly end: Token;
  private at = 0;
  private comparisons = 0;
  private levels = 0;
  private scope: Scope;

  constructor(text: string, resource: ResourceDescription, others: readonly ResourceDescription[] = []) {
    this.tokens = readTokens(text);
    const position = text.length + 1;
    this.end = { kind: 'end', text: 'the end', position, followsBlank: true, isApart: true };
    this.scope = (name) =>
      resource.find(name) ?? (others.some((other) => other.find(name)) ? 'elsewhere' : undefined);
  }

  /** Reads filters joined by `or`, which binds weakest. */
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

  /** Reads `[…]` after the attribute: what its elements must satisfy. */
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

  /** Reads the name of a part, as in `[…].value`, undefined where none follows. */
  partAfterBrackets(attribute: Attribute): Attribute | undefined {
    const token = this.peek();
    if (!isPart(token) || token.followsBlank) return undefined;
    this.next();
    const sub = attribute.sub(token.text.slice(1));
    if (!sub) throw new UnknownAttributeError('invalid_filter', token.text, token.position);
    return sub;
  }

  private peek(): Token {
    return this.tokens[this.at] ?? this.end;
  }

  private joined(word: 'and' | 'or', part: () => Filter): Filter {
    const first = part();
    const filters = [first];
    while (isWord(this.peek(), word)) {
      this.separate(this.next());
      filters.push(part());
    }
    return filters.length === 1 ? first : { kind: word, filters };
  }

  private single(): Filter {
    const token = this.peek();
    const isNot = isWord(token, 'not');
    if (isNot) {
      this.next();
      if (this.peek().kind !== '(') throw invalidFilter(token.position, 'not needs parentheses: not (…)');
    }
    if (this.peek().kind !== '(') return this.condition();
    const filter = this.nested(this.next(), () => this.either());
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
    if (path === undefined) throw new UnknownAttributeError('invalid_filter', name.text, name.position);
    if (path === 'elsewhere') return this.elsewhere();
    const { attribute } = path;
    if (this.peek().kind !== '[') return this.compared(path, name);
    if (path.sub) throw invalidFilter(this.peek().position, `${path.sub.path} has no parts to choose by`);
    const filter = this.inBrackets(attribute);
    const sub = this.partAfterBrackets(attribute);
    if (!sub) return { kind: 'element', attribute, filter };
    const element = (also: Filter): Filter => ({
      kind: 'element',
      attribute,
      filter: { kind: 'and', filters: [filter, also] },
    });
    const compared = this.compared({ attribute, sub }, name);
    // `ne` and `eq null` deny the whole: no such element has the value.
    return compared.kind === 'not' ? { kind: 'not', filter: element(compared.filter) } : element(compared);
  }

  /** Reads a condition on an attribute of other types, which is not resolved. */
  private elsewhere(): Filter {
    if (this.peek().kind === '[') {
      while (this.peek().kind !== ']' && this.peek().kind !== 'end') this.next();
      this.expect(']', 'a closing bracket');
      if (!isPart(this.peek())) return { kind: 'none' };
      this.next();
    }
    const { op } = this.operator(this.peek());
    if (op === 'pr') return { kind: 'none' };
    const isEmpty = isNothing(this.value());
    return (op === 'ne') !== isEmpty ? { kind: 'not', filter: { kind: 'none' } } : { kind: 'none' };
  }

  /** Reads the operator and the value of a condition: `ne` as not `eq`, `eq null` and `eq ""` as not `pr`. */
  private compared(path: AttributePath, name: Token): Filter {
    const { op, position } = this.operator(name);
    const value = op === 'pr' ? undefined : this.value();
    const { attribute, sub } = path;
    const named = sub ?? attribute;
    if (attribute.returned === 'never') throw invalidFilter(position, `${named.path} cannot be searched`);
    const present: Filter = { kind: 'present', path };
    if (op === 'pr' || !value) return present;
    if (isNothing(value)) {
      if (op === 'ne') return present;
      if (op === 'eq') return { kind: 'not', filter: present };
      if (value.kind === 'word') throw invalidFilter(value.position, 'null goes with eq and ne only');
    }
    const target = valuePath(path);
    if (!target) throw invalidFilter(position, `${named.path} is compared by one of its parts only`);
    const leaf = target.sub ?? attribute;
    const compare = (sign: CompareOperator): Filter => ({
      kind: 'compare',
      path: target,
      op: sign,
      value: typed(leaf, value),
    });
    if (op === 'ne') return { kind: 'not', filter: compare('eq') };
    if (!suits(op, leaf)) {
      throw invalidFilter(position, `${op} cannot be used with ${leaf.path}, which is a ${leaf.type}`);
    }
    return compare(op);
  }

  private operator(name: Token): { op: Operator; position: number } {
    if (++this.comparisons > MAX_COMPARISONS) {
      throw invalidFilter(name.position, `a filter may have at most ${MAX_COMPARISONS} comparisons`);
    }
    const token = this.expect('word', 'an operator');
    this.separate(token);
    const sent = token.text.toLowerCase();
    const op = OPERATORS.find((known) => known === sent);
    if (op) return { op, position: token.position };
    throw invalidFilter(token.position, `${shown(token)} is not one of ${OPERATORS.join(', ')}`);
  }

  private value(): Token {
    const token = this.next();
    if (token.kind !== 'string' && token.kind !== 'word') {
      throw invalidFilter(token.position, `${shown(token)} is not a value`);
    }
    this.separate(token);
    return token;
  }

  /** Refuses words that are not apart: `userName eq"x"and` is no filter. */
  private separate(token: Token): void {
    if (!token.isApart) throw invalidFilter(token.position, 'a blank is missing');
  }
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'word' && token.text.toLowerCase() === word;
}

const isPart = (token: Token): boolean => token.kind === 'word' && token.text.startsWith('.');

const isNothing = (value: Token): boolean =>
  value.kind === 'string' ? value.text === '' : isWord(value, 'null');

const shown = (token: Token): string => (token.kind === 'end' ? token.text : quoted(token.text));

function suits(op: CompareOperator, leaf: Attribute): boolean {
  if (op === 'eq') return true;
  const isOrder = ['gt', 'ge', 'lt', 'le'].includes(op);
  if (leaf.type === 'dateTime') return isOrder;
  return leaf.type !== 'boolean' && !(leaf.type === 'binary' && isOrder);
}

/** Returns the value in the type of the attribute: a time as ISO 8601 in UTC. */
function typed(leaf: Attribute, { text, position }: Token): string | boolean {
  if (leaf.type === 'boolean') {
    const word = text.toLowerCase();
    if (word === 'true' || word === 'false') return word === 'true';
    throw invalidFilter(position, `${leaf.path} is compared with true or false`);
  }
  if (leaf.type !== 'dateTime') return text;
  const instant = instantOf(text);
  if (instant !== undefined) return new Date(instant).toISOString();
  throw invalidFilter(position, `${leaf.path} is compared with a time such as "2026-01-31T12:00:00Z"`);
}
