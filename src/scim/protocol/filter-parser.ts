import { ProblemError } from '../../platform/common/errors.js';
import {
  type Attribute,
  type AttributePath,
  type ResourceDescription,
  type Schema,
  parseInstant,
  toValuePath,
} from './attribute.js';
import { UnknownAttributeError, toFilterError, quote } from './errors.js';
import type { CompareOperator, Filter } from './filter.js';

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
type Operator = (typeof OPERATORS)[number];
type ValueOperator = CompareOperator | 'ne';

/** Maximum length of a filter or a path, in characters. */
const MAX_FILTER = 2048;
const MAX_COMPARISONS = 20;
const MAX_LEVELS = 10;

/**
 * Parses a filter (RFC 7644 §3.4.2.2). Parses `attr[f].sub op v` like `attr[f and sub op v]`.
 * @param others other resource types in the same search. A condition on an attribute that only these types have becomes
 * a filter of the kind `none`.
 * @throws ProblemError `invalid_filter` with the position in the filter, counted from 1
 */
export function parseFilter(
  text: string,
  resource: ResourceDescription,
  others: readonly ResourceDescription[] = [],
): Filter {
  if (text.length > MAX_FILTER) {
    throw toFilterError(MAX_FILTER + 1, `a filter may have at most ${MAX_FILTER} characters`);
  }
  const parser = new FilterParser(text, resource, others);
  const filter = parser.parseOr();
  parser.expect('end', '"and", "or" or the end');
  return filter;
}

/** The target of a PATCH: an attribute, a sub-attribute, or the elements that match a filter. */
export interface AttributeTarget {
  readonly kind: 'attribute';
  readonly attribute: Attribute;
  /** Selects elements of the attribute. The paths in this filter are relative to an element. */
  readonly filter?: Filter;
  readonly sub?: Attribute;
}

/** The parsed path of a PATCH: an attribute, or a schema, which stands for all its attributes. */
export type PatchPath = { readonly kind: 'schema'; readonly schema: Schema } | AttributeTarget;

/**
 * Parses `[urn:]attr[.sub]`, `attr[filter][.sub]`, or the URN of a schema (RFC 7644
 * §3.5.2). Names are case-insensitive.
 * @throws ProblemError `invalid_path`, `invalid_filter` for an error inside `[…]`, UnknownAttributeError
 */
export function parsePath(text: string, resource: ResourceDescription): PatchPath {
  const path = text.trim();
  if (path.length > MAX_FILTER) {
    throw new ProblemError('invalid_path', `A path may have at most ${MAX_FILTER} characters.`);
  }
  if (path.includes('[')) return parseFilterPath(path, resource);
  const schema = resource.findSchema(path);
  if (schema) return { kind: 'schema', schema };
  const found = resource.resolvePath(path);
  if (found) return { kind: 'attribute', ...found };
  throw createPathError(path);
}

function parseFilterPath(path: string, resource: ResourceDescription): AttributeTarget {
  const parser = new FilterParser(path, resource);
  const name = parser.next();
  const attribute = name.kind === 'word' ? resource.findAttribute(name.text) : undefined;
  if (!attribute) throw createPathError(name.text);
  const filter = parser.parseBrackets(attribute);
  const sub = parser.parseSubAttribute(attribute);
  if (parser.next().kind !== 'end') throw createSyntaxError(path);
  return { kind: 'attribute', attribute, filter, ...(sub && { sub }) };
}

const NAME = /^[^\s()[\]"]+$/;

const createPathError = (name: string): ProblemError =>
  NAME.test(name) ? new UnknownAttributeError('invalid_path', name) : createSyntaxError(name);

const createSyntaxError = (path: string): ProblemError =>
  new ProblemError(
    'invalid_path',
    `The path ${quote(path)} is invalid. Use attribute, attribute.part or attribute[filter].part.`,
  );

type Bracket = '(' | ')' | '[' | ']';

/** A token of a filter. The first character of the filter has the `position` 1. */
interface Token {
  /** The kind of token. A `word` is an attribute, an operator or an unquoted value. */
  readonly kind: Bracket | 'word' | 'string' | 'end';
  /** The decoded value of a string, or the source text of any other token. */
  readonly text: string;
  readonly position: number;
  readonly followsBlank: boolean;
  /** True if a blank or a bracket precedes the token, or if it is the first token. */
  readonly isApart: boolean;
}

/** Matches optional blanks, followed by a bracket, a string, a word or an invalid character. */
const TOKEN = /([ \t\r\n]*)(?:([()[\]])|("(?:[^"\\]|\\[^])*")|[^\s()[\]"]+|([^ \t\r\n]))/gy;

/**
 * Splits a filter into tokens.
 * @throws ProblemError `invalid_filter` for an unterminated or invalid string, and for unsupported white space
 */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let followsBracket = true;
  for (const { index, 0: match, 1: blanks = '', 2: bracket, 3: string, 4: other } of text.matchAll(TOKEN)) {
    const position = index + blanks.length + 1;
    if (other === '"') throw toFilterError(position, 'the closing quote is missing');
    if (other !== undefined) throw toFilterError(position, 'only spaces may separate words');
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

function unescape(literal: string, position: number): string {
  let text: string;
  try {
    text = String(JSON.parse(literal));
  } catch {
    throw toFilterError(position, 'the quoted text is not a valid JSON string: write \\\\ for a backslash');
  }
  if (!text.isWellFormed()) throw toFilterError(position, 'the quoted text contains invalid Unicode');
  return text;
}

/** Returns the attribute for a name in a filter, or the sub-attribute inside `[…]`. */
type NameResolver = (name: string) => AttributePath | undefined;

/** A recursive descent parser for filters. `MAX_LEVELS` limits the recursion. */
class FilterParser {
  private readonly tokens: readonly Token[];
  private readonly end: Token;
  private at = 0;
  private comparisons = 0;
  private levels = 0;
  private resolveName: NameResolver;

  constructor(
    text: string,
    private readonly resource: ResourceDescription,
    others: readonly ResourceDescription[] = [],
  ) {
    this.tokens = tokenize(text);
    const position = text.length + 1;
    this.end = { kind: 'end', text: 'the end', position, followsBlank: true, isApart: true };
    this.resolveName = (name) => [resource, ...others].flatMap((each) => each.resolvePath(name) ?? [])[0];
  }

  /** Parses a whole filter: conditions joined by `and` and `or`, where `or` has the lowest precedence. */
  parseOr(): Filter {
    return this.parseJoined('or', () => this.parseJoined('and', () => this.parseUnary()));
  }

  expect(kind: Token['kind'], name: string): Token {
    const token = this.next();
    if (token.kind !== kind)
      throw toFilterError(token.position, `expected ${name}, but found ${toText(token)}`);
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  parseBrackets(attribute: Attribute): Filter {
    const bracket = this.expect('[', 'an opening bracket');
    if (attribute.type !== 'complex') {
      throw toFilterError(bracket.position, `${attribute.path} has no sub-attributes to filter by`);
    }
    const outer = this.resolveName;
    this.resolveName = (name) => {
      const sub = attribute.findSub(name);
      return sub && { attribute, sub };
    };
    const filter = this.parseNested(bracket, ']', 'bracket');
    this.resolveName = outer;
    return filter;
  }

  /**
   * Parses the sub-attribute after a closing bracket, as in `[…].value`. Returns undefined if no sub-attribute follows
   * directly.
   */
  parseSubAttribute(attribute: Attribute): Attribute | undefined {
    const token = this.peek();
    if (!isSubAttribute(token) || token.followsBlank) return undefined;
    this.next();
    const sub = attribute.findSub(token.text.slice(1));
    if (!sub) throw new UnknownAttributeError('invalid_filter', token.text, token.position);
    return sub;
  }

  private peek(): Token {
    return this.tokens[this.at] ?? this.end;
  }

  private parseJoined(word: 'and' | 'or', parse: () => Filter): Filter {
    const first = parse();
    const filters = [first];
    while (isWord(this.peek(), word)) {
      this.assertSeparated(this.next());
      filters.push(parse());
    }
    return filters.length === 1 ? first : { kind: word, filters };
  }

  private parseUnary(): Filter {
    const token = this.peek();
    if (isWord(token, 'not')) return this.parseNot();
    return token.kind === '(' ? this.parseNested(this.next(), ')', 'parenthesis') : this.parseCondition();
  }

  private parseNot(): Filter {
    const { position } = this.next();
    if (this.peek().kind !== '(')
      throw toFilterError(position, 'not must be followed by parentheses: not (…)');
    return { kind: 'not', filter: this.parseNested(this.next(), ')', 'parenthesis') };
  }

  private parseNested(open: Token, close: ')' | ']', name: string): Filter {
    if (++this.levels > MAX_LEVELS) {
      throw toFilterError(open.position, `a filter may have at most ${MAX_LEVELS} levels of brackets`);
    }
    const filter = this.parseOr();
    this.levels--;
    this.expect(close, `"and", "or" or a closing ${name}`);
    return filter;
  }

  private parseCondition(): Filter {
    const name = this.expect('word', 'an attribute');
    const path = this.resolveName(name.text);
    if (path === undefined) throw new UnknownAttributeError('invalid_filter', name.text, name.position);
    const condition =
      this.peek().kind === '[' ? this.parseElementFilter(path, name) : this.parseComparison(path, name);
    if (this.resource.attributes.includes(path.attribute)) return condition;
    return condition.kind === 'not' ? { kind: 'not', filter: { kind: 'none' } } : { kind: 'none' };
  }

  /**
   * Parses `[…]` after an attribute, and the condition on a sub-attribute that may follow: `emails[type eq
   * "work"].value eq "…"`.
   */
  private parseElementFilter({ attribute, sub: part }: AttributePath, name: Token): Filter {
    if (part) throw toFilterError(this.peek().position, `${part.path} has no sub-attributes to filter by`);
    const filter = this.parseBrackets(attribute);
    const sub = this.parseSubAttribute(attribute);
    if (!sub) return { kind: 'element', attribute, filter };
    const toElementFilter = (condition: Filter): Filter => ({
      kind: 'element',
      attribute,
      filter: { kind: 'and', filters: [filter, condition] },
    });
    const rest = this.parseComparison({ attribute, sub }, name);
    // `ne` is parsed as `not (… eq …)`, and `eq null` as `not (… pr)`. Put this `not` before the whole element
    // condition, so that it matches only if no selected element satisfies `eq` or `pr`.
    return rest.kind === 'not'
      ? { kind: 'not', filter: toElementFilter(rest.filter) }
      : toElementFilter(rest);
  }

  private parseComparison(path: AttributePath, name: Token): Filter {
    const { op, position } = this.parseOperator(name);
    const value = op === 'pr' ? undefined : this.parseValue();
    if (path.attribute.returned === 'never') {
      throw toFilterError(position, `${(path.sub ?? path.attribute).path} cannot be used in a filter`);
    }
    if (op === 'pr' || !value) return { kind: 'present', path };
    const compare = isEmptyValue(value) ? buildEmptyTest : buildValueTest;
    return compare(path, op, value, position);
  }

  private parseOperator(name: Token): { op: Operator; position: number } {
    if (++this.comparisons > MAX_COMPARISONS) {
      throw toFilterError(name.position, `a filter may have at most ${MAX_COMPARISONS} comparisons`);
    }
    const token = this.expect('word', 'an operator');
    const sent = token.text.toLowerCase();
    const op = OPERATORS.find((known) => known === sent);
    if (op) return { op, position: token.position };
    throw toFilterError(token.position, `${toText(token)} is not an operator: use ${OPERATORS.join(', ')}`);
  }

  private parseValue(): Token {
    const token = this.next();
    if (token.kind !== 'string' && token.kind !== 'word') {
      throw toFilterError(token.position, `expected a value, but found ${toText(token)}`);
    }
    this.assertSeparated(token);
    return token;
  }

  /** Requires a blank between a string and the next word, and so rejects `eq"x"` and `"x"and`. */
  private assertSeparated(token: Token): void {
    if (!token.isApart) throw toFilterError(token.position, 'a space is missing');
  }
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'word' && token.text.toLowerCase() === word;
}

const isSubAttribute = (token: Token): boolean => token.kind === 'word' && token.text.startsWith('.');

const isEmptyValue = (value: Token): boolean =>
  value.kind === 'string' ? value.text === '' : isWord(value, 'null');

const toText = (token: Token): string => (token.kind === 'end' ? token.text : quote(token.text));

/** Builds a comparison with null or `""`: `eq` becomes `pr` inside `not`, and `ne` becomes `pr`. */
function buildEmptyTest(path: AttributePath, op: ValueOperator, value: Token, position: number): Filter {
  if (op === 'ne') return { kind: 'present', path };
  if (op === 'eq') return { kind: 'not', filter: { kind: 'present', path } };
  if (value.kind === 'word') throw toFilterError(value.position, 'null can be used with eq and ne only');
  return buildValueTest(path, op, value, position);
}

/** Builds a comparison with a value. `ne` becomes `eq` inside `not`. */
function buildValueTest(path: AttributePath, op: ValueOperator, value: Token, position: number): Filter {
  const { attribute, sub: named = attribute } = path;
  const target = toValuePath(path);
  if (!target)
    throw toFilterError(position, `${named.path} cannot be compared as a whole: use a sub-attribute`);
  const leaf = target.sub ?? attribute;
  if (op === 'ne') return { kind: 'not', filter: buildValueTest(path, 'eq', value, position) };
  if (op !== 'eq') assertOperatorSuits(op, leaf, position);
  return { kind: 'compare', path: target, op, value: convertValue(leaf, value) };
}

function assertOperatorSuits(op: CompareOperator, leaf: Attribute, position: number): void {
  const unsuited = ['gt', 'ge', 'lt', 'le'].includes(op) ? ['boolean', 'binary'] : ['boolean', 'dateTime'];
  if (!unsuited.includes(leaf.type)) return;
  throw toFilterError(position, `${op} cannot be used with ${leaf.path}, which is a ${leaf.type}`);
}

/** Earliest time that every database engine can compare. No resource is that old. */
const FIRST_MILLIS = Date.UTC(1900, 0);
/** Latest time that every database engine can compare. No resource is that new. */
const LAST_MILLIS = Date.UTC(9999, 0);

/**
 * Converts a value in a filter to the type of the attribute. Times become ISO 8601 strings in UTC, from `FIRST_MILLIS`
 * to `LAST_MILLIS`.
 */
function convertValue({ type, path }: Attribute, { text, position }: Token): string | boolean {
  if (type === 'boolean') {
    const word = text.toLowerCase();
    if (word === 'true' || word === 'false') return word === 'true';
    throw toFilterError(position, `${path} must be compared with true or false`);
  }
  if (type !== 'dateTime') return text;
  const instant = parseInstant(text);
  if (instant !== undefined)
    return new Date(Math.min(LAST_MILLIS, Math.max(FIRST_MILLIS, instant))).toISOString();
  throw toFilterError(position, `${path} must be compared with a time such as "2026-01-31T12:00:00Z"`);
}
