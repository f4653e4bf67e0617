import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app.js';
import type { Answer, Json } from '../support/client.js';
import { OPERATIONS, filledPath, jsonBody, places, put, sendJson } from '../support/operations.js';

/**
 * The limits of the OpenAPI file are those of the service: what has the length that a schema allows is not refused for
 * it, and one more is. Over every bounded text, list and number of every JSON body and query of the API.
 */
interface Bound {
  what: string;
  fits: Json;
  exceeds: Json;
}

/** The bounds of a schema, as values on both sides of them. */
function boundsOf(schema: Json): Bound[] {
  const { type, maxLength, minLength, maxItems, minItems, minimum, maximum, items } = schema;
  const text = (length: number) => 'a'.repeat(length);
  const list = (length: number) => Array.from({ length }, (_, number) => `${number}`.padStart(1, 'a'));
  const isOfTexts = type === 'array' && items?.type === 'string';
  return [
    ...(type === 'string' && maxLength !== undefined && !schema.enum
      ? [{ what: 'maxLength', fits: text(maxLength), exceeds: text(maxLength + 1) }]
      : []),
    ...(type === 'string' && minLength > 0
      ? [{ what: 'minLength', fits: text(minLength), exceeds: text(minLength - 1) }]
      : []),
    ...(isOfTexts && maxItems !== undefined
      ? [{ what: 'maxItems', fits: list(maxItems), exceeds: list(maxItems + 1) }]
      : []),
    ...(isOfTexts && minItems > 0
      ? [{ what: 'minItems', fits: list(minItems), exceeds: list(minItems - 1) }]
      : []),
    ...(type === 'integer' && minimum !== undefined
      ? [{ what: 'minimum', fits: minimum, exceeds: minimum - 1 }]
      : []),
    ...(type === 'integer' && maximum !== undefined
      ? [{ what: 'maximum', fits: maximum, exceeds: maximum + 1 }]
      : []),
  ];
}

const OF_API = OPERATIONS.filter(({ path }) => path.startsWith('/api/'));
const FIELDS = OF_API.flatMap((operation) => {
  const body = jsonBody(operation);
  if (!body) return [];
  return [...places(body.schema)]
    .filter(
      ({ path, schema }) =>
        path.length > 0 && !schema.readOnly && body.schema.properties[path[0] ?? '']?.readOnly !== true,
    )
    .flatMap(({ path, schema }) =>
      boundsOf(schema).map((bound) => ({
        ...bound,
        name: operation.operationId,
        place: path.join('.'),
        operation,
        path,
        example: body.example,
      })),
    );
});

const LENGTH = /too_long|too_short/;
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

/** The errors of a field, as `code message`. */
function errorsOf({ body }: Answer, [field]: string[]): string[] {
  const errors: { field: string; code: string; message: string }[] = body?.errors ?? [];
  return errors
    .filter((error) => error.field === field || error.field.startsWith(`${field}.`))
    .map(({ code, message }) => `${code}: ${message}`);
}

describe('fields', () => {
  test('are those of all bodies', () => {
    expect(new Set(FIELDS.map(({ name }) => name))).toEqual(
      new Set(OF_API.filter((operation) => jsonBody(operation)).map(({ operationId }) => operationId)),
    );
  });

  test.each(FIELDS)('$name: $place, $what', async ({ what, operation, path, example, fits, exceeds }) => {
    const at = await filledPath(app, operation);
    const refusals = async (value: Json) =>
      errorsOf(await sendJson(app, operation, at, put(example, path, value)), path);
    const within = await refusals(fits);
    const beyond = await refusals(exceeds);
    expect(beyond).not.toEqual([]);
    expect(within).not.toEqual(beyond);
    if (what.endsWith('imum')) expect(within).toEqual([]);
    else expect(within.filter((error) => LENGTH.test(error))).toEqual([]);
  });
});
