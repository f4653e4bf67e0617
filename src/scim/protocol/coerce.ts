import { isObject } from '../../platform/common/json.js';
import type { FieldCode, FieldError } from '../../platform/common/errors.js';
import { isWithin } from '../../platform/common/text.js';
import type { Attribute } from './attribute.js';
import type { CountDeviation } from './deviation.js';
import type { ScimObject, ScimValue } from './json.js';
import { onePrimary } from './primary.js';

/** Where the faults of a body go, and what is lenient about it. */
export interface Report {
  errors: FieldError[];
  deviation: CountDeviation;
}

/** An object by the schema, and the parts that it empties. */
export interface Parts {
  value: ScimObject;
  unset: readonly string[];
}

/** Whether a value unassigns (RFC 7643 §2.5). */
export function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/**
 * A value of a whole attribute in the types of the schema; undefined where nothing is left of it or where it is faulty,
 * which is reported. Unknown and read-only parts are left out.
 */
export function coerce(attribute: Attribute, raw: unknown, report: Report): ScimValue | undefined {
  if (attribute.multiValued) return coerceList(attribute, raw, report);
  const single = onlyOne(attribute, raw, report);
  if (isEmpty(single)) return undefined;
  if (attribute.type !== 'complex') return coerceScalar(attribute, single, attribute.path, report);
  const { value } = coerceParts(attribute, single, attribute.path, report);
  return Object.keys(value).length === 0 ? undefined : value;
}

/** The value of a single attribute; a list of one is taken for its element. */
export function onlyOne(attribute: Attribute, raw: unknown, report: Report): unknown {
  if (!Array.isArray(raw) || raw.length === 0) return raw;
  if (raw.length > 1) {
    fault(report, attribute.path, 'invalid_type', 'takes one value, not a list');
    return undefined;
  }
  report.deviation('list_shape');
  return raw[0] as unknown;
}

/**
 * The elements of a list; one value is taken for a list of one. Elements that say nothing are left out, one is primary:
 * the last.
 */
export function coerceList(
  attribute: Attribute,
  raw: unknown,
  report: Report,
  saysSomething: (attribute: Attribute, element: ScimObject) => boolean = hasValue,
): ScimValue | undefined {
  if (isEmpty(raw)) return undefined;
  if (!Array.isArray(raw)) report.deviation('list_shape');
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (list.length > attribute.maxItems) {
    fault(report, attribute.path, 'too_long', `may hold at most ${attribute.maxItems} elements`);
    return undefined;
  }
  const elements: ScimObject[] = [];
  for (const [index, element] of list.entries()) {
    if (isEmpty(element)) continue;
    const { value } = coerceParts(attribute, element, `${attribute.path}[${index}]`, report);
    if (saysSomething(attribute, value)) elements.push(value);
  }
  return elements.length === 0 ? undefined : onePrimary(attribute, elements);
}

/** Whether an element says anything: without its `value`, where the schema has one, it does not. */
export function hasValue(attribute: Attribute, element: ScimObject): boolean {
  const main = attribute.sub('value');
  return main ? Object.hasOwn(element, main.name) : Object.keys(element).length > 0;
}

/** The known, writable parts of an object; a text is taken for an object with that `value`. */
export function coerceParts(attribute: Attribute, raw: unknown, path: string, report: Report): Parts {
  if (!isObject(raw)) {
    const main = attribute.sub('value');
    if (!main || typeof raw !== 'string') {
      fault(report, path, 'invalid_type', 'must be an object');
      return { value: {}, unset: [] };
    }
    report.deviation('text_as_object');
    return coerceParts(attribute, { value: raw }, path, report);
  }
  const value: Record<string, ScimValue> = {};
  const unset = new Set<string>();
  for (const [name, content] of Object.entries(raw)) {
    const sub = attribute.sub(name);
    if (!sub) report.deviation('unknown_attribute');
    if (!sub || sub.isReadOnly) continue;
    if (isEmpty(content)) {
      unset.add(sub.name);
      continue;
    }
    const scalar = coerceScalar(sub, content, `${path}.${sub.name}`, report);
    if (scalar !== undefined) value[sub.name] = scalar;
  }
  return { value, unset: [...unset] };
}

/** A value that is no list and no object; empty values are the caller's. */
export function coerceScalar(
  attribute: Attribute,
  raw: unknown,
  path: string,
  report: Report,
): string | boolean | undefined {
  if (attribute.type === 'boolean') return coerceFlag(raw, path, report);
  if (typeof raw !== 'string') {
    fault(report, path, 'invalid_type', 'must be a string');
    return undefined;
  }
  if (!raw.isWellFormed()) {
    fault(report, path, 'invalid_format', 'may not hold broken Unicode');
    return undefined;
  }
  if (!isWithin(raw, attribute.maxLength)) {
    fault(report, path, 'too_long', `may have at most ${attribute.maxLength} characters`);
    return undefined;
  }
  return raw;
}

function coerceFlag(raw: unknown, path: string, report: Report): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  const word = typeof raw === 'string' ? raw.toLowerCase() : '';
  if (word !== 'true' && word !== 'false') {
    fault(report, path, 'invalid_type', 'must be true or false');
    return undefined;
  }
  report.deviation('boolean_text');
  return word === 'true';
}

function fault(report: Report, field: string, code: FieldCode, message: string): void {
  report.errors.push({ field, code, message });
}
