import { type JsonObject, isObject } from '../common/json.js';

/** The most that a value of a field may hold. */
export interface Size {
  /** Characters of a text, and of each text in a list or an object. */
  text: number;
  items: number;
  members: number;
}

/** Of a field that names no limit. More than the headers of a request hold, so that a query parameter is never cut. */
const USUAL: Size = { text: 4096, items: 100, members: 32 };

/**
 * UTF-16 units that one character of the normal form may come from: NFC joins up to four code points of one unit, or two of
 * two units, and runs of spaces collapse.
 */
const UNITS = 4;

const sizes = new WeakMap<object, Map<string, Partial<Size>>>();

/** States limits of a field that no decorator of class-validator has: those inside an object. */
export function Sized(size: Partial<Size>): PropertyDecorator {
  return (prototype, property) => {
    const own = sizes.get(prototype) ?? new Map<string, Partial<Size>>();
    sizes.set(prototype, own.set(String(property), size));
  };
}

/** The size of a field of an input class, inherited ones included. @param limits those of its other decorators. */
export function sizeOf(input: object, field: string, limits: Partial<Size> = {}): Size {
  for (let at: object | null = input; at; at = Reflect.getPrototypeOf(at)) {
    const own = sizes.get(at)?.get(field);
    if (own) return { ...USUAL, ...limits, ...own };
  }
  return { ...USUAL, ...limits };
}

/**
 * The value itself where it may be within its size, whatever its normal form is. Otherwise what is left of it when it is
 * cut: small, and still over its limits, so that the rules of the field refuse it.
 */
export function fitted(value: unknown, size: Size): unknown {
  if (typeof value === 'string') {
    const most = UNITS * size.text;
    return value.length <= most ? value : value.slice(0, most + 1);
  }
  if (Array.isArray(value)) return fittedItems(value, size);
  return isObject(value) ? fittedMembers(value, size) : value;
}

function fittedItems(items: readonly unknown[], size: Size): readonly unknown[] {
  const few = items.length <= size.items ? items : items.slice(0, size.items + 1);
  const cut = few.map((item) => fitted(item, size));
  return few === items && cut.every((item, at) => item === items[at]) ? items : cut;
}

function fittedMembers(object: JsonObject, size: Size): JsonObject {
  const names = Object.keys(object);
  const few = names.length <= size.members ? names : names.slice(0, size.members + 1);
  const cut = few.map((name) => [name, fitted(object[name], size)] as const);
  const same = few === names && cut.every(([name, member]) => member === object[name]);
  return same ? object : Object.fromEntries(cut);
}
