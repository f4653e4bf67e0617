import type { Attribute, AttributePath } from './attribute.js';
import { instantOf } from './comparable.js';
import { invalidFilter } from './errors.js';
import type { CompareOperator, Filter } from './filter.js';
import type { Token } from './filter-lexer.js';

/** A condition on one attribute (RFC 7644 §3.4.2.2), `ne` as not `eq`, `eq null` and `eq ""` as not `pr`. */
export function comparison(named: AttributePath, operator: Token, value: Token | undefined): Filter {
  const op = operator.text.toLowerCase();
  const leaf = leafOf(named);
  if (leaf === 'never') throw invalidFilter(operator.position, `${pathOf(named)} cannot be searched`);
  if (!value) return { kind: 'present', path: named };
  if (isNothing(value)) {
    const present: Filter = { kind: 'present', path: named };
    if (op === 'ne') return present;
    if (op === 'eq') return { kind: 'not', filter: present };
    if (value.kind === 'word') throw invalidFilter(value.position, 'null goes with eq and ne only');
  }
  if (leaf === undefined) {
    throw invalidFilter(operator.position, `${pathOf(named)} is compared by one of its parts only`);
  }
  const path: AttributePath = leaf.parent ? { attribute: named.attribute, sub: leaf } : named;
  if (op === 'ne')
    return { kind: 'not', filter: { kind: 'compare', path, op: 'eq', value: typed(leaf, value) } };
  if (!isCompareOperator(op)) throw invalidFilter(operator.position, 'this is no operator');
  if (!suits(op, leaf)) {
    throw invalidFilter(operator.position, `${op} cannot be used with ${leaf.path}, which is a ${leaf.type}`);
  }
  return { kind: 'compare', path, op, value: typed(leaf, value) };
}

const COMPARE_OPERATORS: readonly CompareOperator[] = ['eq', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

function isCompareOperator(op: string): op is CompareOperator {
  return COMPARE_OPERATORS.some((known) => known === op);
}

/** What holds the values: of a complex attribute its `value`; undefined where it has none. */
function leafOf({ attribute, sub }: AttributePath): Attribute | 'never' | undefined {
  if (attribute.returned === 'never') return 'never';
  if (sub) return sub;
  return attribute.type === 'complex' ? attribute.sub('value') : attribute;
}

function pathOf({ attribute, sub }: AttributePath): string {
  return (sub ?? attribute).path;
}

function isNothing(value: Token): boolean {
  return value.kind === 'string' ? value.text === '' : value.text.toLowerCase() === 'null';
}

const ORDER: ReadonlySet<CompareOperator> = new Set<CompareOperator>(['gt', 'ge', 'lt', 'le']);

function suits(op: CompareOperator, leaf: Attribute): boolean {
  if (op === 'eq') return true;
  if (leaf.type === 'boolean') return false;
  if (leaf.type === 'dateTime') return ORDER.has(op);
  return leaf.type !== 'binary' || !ORDER.has(op);
}

/** The value in the type of the attribute: a time as ISO 8601 in UTC. */
function typed(leaf: Attribute, { text, position }: Token): string | boolean {
  if (leaf.type === 'boolean') {
    const word = text.toLowerCase();
    if (word !== 'true' && word !== 'false') {
      throw invalidFilter(position, `${leaf.path} is compared with true or false`);
    }
    return word === 'true';
  }
  if (leaf.type !== 'dateTime') return text;
  const instant = instantOf(text);
  if (instant === undefined) {
    throw invalidFilter(position, `${leaf.path} is compared with a time such as "2026-01-31T12:00:00Z"`);
  }
  return new Date(instant).toISOString();
}
