export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for null, undefined, an empty string, an empty list and an empty object. */
export function isEmptyValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return (value ?? '') === '';
}

/** JSON text in a column. `T` is the type of its parsed value. */
export type JsonText<T> = string & { readonly json: T };

export const toJson = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;

/** Parses a JSON text that `toJson` created. @throws SyntaxError for invalid JSON. */
export const fromJson = <T>(text: JsonText<T>): T => JSON.parse(text) as T;

/** Encodes an array as text that is safe in a URL. */
export const encodeArray = (values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** Decodes a text that `encodeArray` created. Returns an empty array for any other text. */
export function decodeArray(text: string): unknown[] {
  const value = tryParseJson(Buffer.from(text, 'base64url').toString());
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Parses a JSON text. Returns undefined for any other text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the limit that a JSON text exceeds, or undefined. `depth` limits the nesting of arrays and objects. `values`
 * limits the number of all values, and `names` the number of different member names. Call it before parsing, because a
 * huge number of brackets, values or names could overload the parser.
 */
export function findJsonExcess(text: string, limits: { depth: number; values: number; names: number }) {
  const names = new Set<string>();
  let depth = 0;
  let values = 1;
  let start = 0;
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x22) {
      start = i;
      i = end = findStringEnd(text, i);
    } else if (char === 0x3a) {
      if (names.add(text.slice(start, end)).size > limits.names) return 'names';
    } else if (char === 0x2c) {
      if (++values > limits.values) return 'values';
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > limits.depth) return 'depth';
      if (++values > limits.values) return 'values';
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return undefined;
}

/** Returns the position of the quotation mark that ends the string at `start`, or the length of an incomplete text. */
function findStringEnd(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end < 0) return text.length;
  const isEscaped = text.charCodeAt(end - 1) === 0x5c;
  if (!isEscaped) return end;
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1;
  return i;
}
