export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON text in a column of the database, with the type of its value. */
export type JsonText<T> = string & { readonly json: T };

export const toJson = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;

/** The value of a text that `toJson` wrote. @throws SyntaxError for any other text. */
export const fromJson = <T>(text: JsonText<T>): T => JSON.parse(text) as T;

/** Returns an array as text for a URL. */
export const encodeArray = (values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** Returns the array that `encodeArray` wrote, an empty one for any other text. */
export const decodeArray = (text: string): unknown[] => parseArray(Buffer.from(text, 'base64url').toString());

/** Returns the array in a JSON text, an empty one for any other text. */
export function parseArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as unknown[]) : [];
  } catch {
    return [];
  }
}

/**
 * Which limit a JSON text exceeds, if any: `depth` of its arrays and objects, or number of `values`, members and items
 * included. Found before it is parsed, in one pass without recursion that ends at the limit: brackets or members by the
 * hundred thousand must reach neither the parser nor anything that walks a value.
 */
export function jsonExcess(
  text: string,
  limits: { depth: number; values: number },
): 'depth' | 'values' | undefined {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x2c) {
      if (++values > limits.values) return 'values';
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > limits.depth) return 'depth';
      if (++values > limits.values) return 'values';
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return undefined;
}
