export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON text in a column of the database, with the type of its value. */
export type JsonText<T> = string & { readonly json: T };

export const toJson = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;

/** The value of a text that `toJson` wrote. @throws SyntaxError for any other text. */
export const fromJson = <T>(text: JsonText<T>): T => JSON.parse(text) as T;

/**
 * Depth of the deepest array or object in a JSON text, counted without recursion: a body of a megabyte of
 * brackets must not reach anything that walks it recursively.
 */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x5d || char === 0x7d) depth--;
  }
  return deepest;
}
