import { ProblemError } from '../../platform/common/errors.js';
import {
  type Attribute,
  type AttributePath,
  type ResourceDescription,
  type Schema,
  instantOf,
  valuePath,
} from './attribute.js';
import { UnknownAttributeError, invalidFilter, quoted } from './errors.js';
import type { CompareOperator, Filter } from './filter.js';

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
type Operator = (typeof OPERATORS)[number];
type ValueOperator = CompareOperator | 'ne';

/** Maximum length of a filter or a path, in characters. */
const MAX_FILTER = 2048;
const MAX_COMPARISONS = 20;
const MAX_LEVELS = 10;

/**
 * Parses a filter (RFC 7644 §3.4.2.2). `attr[f].sub op v` becomes the element filter `f and sub op v`.
 * @param others resource types of the same search. An attribute of these types only is parsed as `none`.
 * @throws ProblemError `invalid_filter` with the position, from 1
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
  parser.expect('end', '"and", "or" or the end');
  return filter;
}

/** The target of a PATCH: an attribute, a sub-attribute, or the elements that match a filter. */
export interface AttributeTarget {
  readonly kind: 'attribute';
  readonly attribute: Attribute;
  /** Selects elements. Its paths are as in `ElementFilter`. */
  readonly filter?: Filter;
  readonly sub?: Attribute;
}

/** A PATCH path: an attribute, or the URN of a schema for all its attributes. */
export type PatchPath = { readonly kind: 'schema'; readonly schema: Schema } | AttributeTarget;

/**
 * Parses `[urn:]attr[.sub]`, `attr[filter][.sub]`, or the URN of a schema (RFC 7644 §3.5.2). Names ignore case.
 * @throws ProblemError `invalid_path`, `invalid_filter` for an error inside `[…]`, UnknownAttributeError
 */
export function parsePath(text: string, resource: ResourceDescription): PatchPath {
  const path = text.trim();
  if (path.length > MAX_FILTER) {
    throw new ProblemError('invalid_path', `A path may have at most ${MAX_FILTER} characters.`);
  }
  if (path.includes('[')) return parseFilterPath(path, resource);
  const schema = resource.schemaOf(path);
  if (schema) return { kind: 'schema', schema };
  const found = resource.find(path);
  if (found) return { kind: 'attribute', ...found };
  throw invalidPath(path);
}

function parseFilterPath(path: string, resource: ResourceDescription): AttributeTarget {
  const parser = new FilterParser(path, resource);
  const name = parser.next();
  const attribute = name.kind === 'word' ? resource.attribute(name.text) : undefined;
  if (!attribute) throw invalidPath(name.text);
  const filter = parser.inBrackets(attribute);
  const sub = parser.partAfterBrackets(attribute);
  if (parser.next().kind !== 'end') throw malformed(path);
  return { kind: 'attribute', attribute, filter, ...(sub && { sub }) };
}

const NAME = /^[^\s()[\]"]+$/;

const invalidPath = (name: string): ProblemError =>
  NAME.test(name) ? new UnknownAttributeError('invalid_path', name) : malformed(name);

const malformed = (path: string): ProblemError =>
  new ProblemError(
    'invalid_path',
    `The path ${quoted(path)} is invalid. Use attribute, attribute.part or attribute[filter].part.`,
  );

type Bracket = '(' | ')' | '[' | ']';

/** A token of a filter. `position` counts from 1. */
interface Token {
  /** A bracket is its own kind. A `word` is an attribute, an operator or an unquoted value. */
  readonly kind: Bracket | 'word' | 'string' | 'end';
  /** The decoded value of a string, or the source text of any other token. */
  readonly text: string;
  readonly position: number;
  readonly followsBlank: boolean;
  /** True after a blank, after a bracket, and at the start. */
  readonly isApart: boolean;
}

/** Blanks, followed by a bracket, a string, a word, or an invalid character. */
const TOKEN = /([ \t\r\n]*)(?:([()[\]])|("(?:[^"\\]|\\[^])*")|[^\s()[\]"]+|([^ \t\r\n]))/gy;

/**
 * Splits a filter into tokens. @throws ProblemError `invalid_filter` for an unterminated or invalid string, and
 * for unsupported blanks
 */
function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let followsBracket = true;
  for (const { index, 0: match, 1: blanks = '', 2: bracket, 3: string, 4: other } of text.matchAll(TOKEN)) {
    const position = index + blanks.length + 1;
    if (other !== undefined) throw unreadable(other, position);
    const followsBlank = blanks !== '';
    tokens.push({
      kind: (bracket as Bracket | undefined) ?? (string === undefined ? 'word' : 'string'), // guaranteed by TOKEN
      text: string === undefined ? match.slice(blanks.length) : unescape(string, position),
      position,
      followsBlank,
      isApart: followsBlank || followsBracket,
    });
    followsBracket = bracket !== undefined;
  }
  return tokens;
}

function unreadable(character: string, position: number): ProblemError {
  const isQuote = character === '"';
  return invalidFilter(position, isQuote ? 'the closing quote is missing' : 'only spaces may separate words');
}

function unescape(literal: string, position: number): string {
  let text: string;
  try {
    text = String(JSON.parse(literal));
  } catch {
    throw invalidFilter(position, 'the quoted text is not a valid JSON string: write \\\\ for a backslash');
  }
  if (!text.isWellFormed()) throw invalidFilter(position, 'the quoted text contains invalid Unicode');
  return text;
}

/** Resolves an attribute name of a resource, or a sub-attribute name inside `[…]`. */
type Scope = (name: string) => AttributePath | 'elsewhere' | undefined;

/** A recursive descent parser. MAX_LEVELS bounds its stack. */
class FilterParser {
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

  /** Parses filters joined by `or`, the operator with the lowest precedence. */
  either(): Filter {
    return this.joined('or', () => this.joined('and', () => this.single()));
  }

  expect(kind: Token['kind'], what: string): Token {
    const token = this.next();
    if (token.kind !== kind)
      throw invalidFilter(token.position, `expected ${what}, but found ${shown(token)}`);
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  /** Parses the `[…]` after an attribute, which is a filter for its elements. */
  inBrackets(attribute: Attribute): Filter {
    const bracket = this.expect('[', 'an opening bracket');
    if (attribute.type !== 'complex') {
      throw invalidFilter(bracket.position, `${attribute.path} has no sub-attributes to filter by`);
    }
    const outer = this.scope;
    this.scope = (name) => {
      const sub = attribute.sub(name);
      return sub && { attribute, sub };
    };
    const filter = this.nested(bracket, ']', 'bracket');
    this.scope = outer;
    return filter;
  }

  /** Parses a sub-attribute after brackets, as in `[…].value`. Returns undefined if there is none. */
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
    if (isWord(token, 'not')) return this.negated();
    return token.kind === '(' ? this.nested(this.next(), ')', 'parenthesis') : this.condition();
  }

  private negated(): Filter {
    const { position } = this.next();
    if (this.peek().kind !== '(')
      throw invalidFilter(position, 'not must be followed by parentheses: not (…)');
    return { kind: 'not', filter: this.nested(this.next(), ')', 'parenthesis') };
  }

  /** Parses the filter after an opening bracket, and the closing bracket. */
  private nested(open: Token, close: ')' | ']', name: string): Filter {
    if (++this.levels > MAX_LEVELS) {
      throw invalidFilter(open.position, `a filter may have at most ${MAX_LEVELS} levels of brackets`);
    }
    const filter = this.either();
    this.levels--;
    this.expect(close, `"and", "or" or a closing ${name}`);
    return filter;
  }

  private condition(): Filter {
    const name = this.expect('word', 'an attribute');
    const path = this.scope(name.text);
    if (path === undefined) throw new UnknownAttributeError('invalid_filter', name.text, name.position);
    if (path === 'elsewhere') return this.elsewhere();
    return this.peek().kind === '[' ? this.chosen(path, name) : this.compared(path, name);
  }

  /** Parses a condition on the elements that a filter in brackets selects. */
  private chosen({ attribute, sub: part }: AttributePath, name: Token): Filter {
    if (part) throw invalidFilter(this.peek().position, `${part.path} has no sub-attributes to filter by`);
    const filter = this.inBrackets(attribute);
    const sub = this.partAfterBrackets(attribute);
    if (!sub) return { kind: 'element', attribute, filter };
    const element = (also: Filter): Filter => ({
      kind: 'element',
      attribute,
      filter: { kind: 'and', filters: [filter, also] },
    });
    const compared = this.compared({ attribute, sub }, name);
    // `ne` and `eq null` negate the whole condition: no selected element has the value.
    return compared.kind === 'not' ? { kind: 'not', filter: element(compared.filter) } : element(compared);
  }

  /** Parses a condition on an attribute of another resource type. The attribute is not resolved. */
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

  /**
   * Parses the operator and the value of a condition. `ne` becomes not `eq`. `eq null` and `eq ""` become not
   * `pr`.
   */
  private compared(path: AttributePath, name: Token): Filter {
    const { op, position } = this.operator(name);
    const value = op === 'pr' ? undefined : this.value();
    if (path.attribute.returned === 'never') {
      throw invalidFilter(position, `${(path.sub ?? path.attribute).path} cannot be used in a filter`);
    }
    if (op === 'pr' || !value) return { kind: 'present', path };
    const compare = isNothing(value) ? compareWithNothing : compareWith;
    return compare(path, op, value, position);
  }

  private operator(name: Token): { op: Operator; position: number } {
    if (++this.comparisons > MAX_COMPARISONS) {
      throw invalidFilter(name.position, `a filter may have at most ${MAX_COMPARISONS} comparisons`);
    }
    const token = this.expect('word', 'an operator');
    const sent = token.text.toLowerCase();
    const op = OPERATORS.find((known) => known === sent);
    if (op) return { op, position: token.position };
    throw invalidFilter(token.position, `${shown(token)} is not an operator: use ${OPERATORS.join(', ')}`);
  }

  private value(): Token {
    const token = this.next();
    if (token.kind !== 'string' && token.kind !== 'word') {
      throw invalidFilter(token.position, `expected a value, but found ${shown(token)}`);
    }
    this.separate(token);
    return token;
  }

  /** Rejects `eq"x"` and `"x"and`. Only brackets need no blank. */
  private separate(token: Token): void {
    if (!token.isApart) throw invalidFilter(token.position, 'a space is missing');
  }
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'word' && token.text.toLowerCase() === word;
}

const isPart = (token: Token): boolean => token.kind === 'word' && token.text.startsWith('.');

const isNothing = (value: Token): boolean =>
  value.kind === 'string' ? value.text === '' : isWord(value, 'null');

const shown = (token: Token): string => (token.kind === 'end' ? token.text : quoted(token.text));

/**
 * Builds a comparison with null or `""`: `eq` becomes not `pr`, and `ne` becomes `pr`. @param position position
 * of the operator
 */
function compareWithNothing(path: AttributePath, op: ValueOperator, value: Token, position: number): Filter {
  if (op === 'ne') return { kind: 'present', path };
  if (op === 'eq') return { kind: 'not', filter: { kind: 'present', path } };
  if (value.kind === 'word') throw invalidFilter(value.position, 'null can be used with eq and ne only');
  return compareWith(path, op, value, position);
}

/** Builds a comparison. `ne` becomes not `eq`. @param position position of the operator */
function compareWith(path: AttributePath, op: ValueOperator, value: Token, position: number): Filter {
  const { attribute, sub: named = attribute } = path;
  const target = valuePath(path);
  if (!target)
    throw invalidFilter(position, `${named.path} cannot be compared as a whole: use a sub-attribute`);
  const leaf = target.sub ?? attribute;
  if (op === 'ne') return { kind: 'not', filter: compareWith(path, 'eq', value, position) };
  if (op !== 'eq') assertSuits(op, leaf, position);
  return { kind: 'compare', path: target, op, value: typed(leaf, value) };
}

function assertSuits(op: CompareOperator, leaf: Attribute, position: number): void {
  const unsuited = ['gt', 'ge', 'lt', 'le'].includes(op) ? ['boolean', 'binary'] : ['boolean', 'dateTime'];
  if (!unsuited.includes(leaf.type)) return;
  throw invalidFilter(position, `${op} cannot be used with ${leaf.path}, which is a ${leaf.type}`);
}

/** Converts a value to the type of the attribute. Times become ISO 8601 in UTC. */
function typed(leaf: Attribute, value: Token): string | boolean {
  if (leaf.type === 'boolean') return readFlag(leaf, value);
  return leaf.type === 'dateTime' ? readTime(leaf, value) : value.text;
}

function readFlag({ path }: Attribute, { text, position }: Token): boolean {
  const word = text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalidFilter(position, `${path} must be compared with true or false`);
}

function readTime({ path }: Attribute, { text, position }: Token): string {
  const instant = instantOf(text);
  if (instant !== undefined) return new Date(instant).toISOString();
  throw invalidFilter(position, `${path} must be compared with a time such as "2026-01-31T12:00:00Z"`);
}
