import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import {
  listPaths,
  OPERATIONS,
  type Operation,
  fillPath,
  findJsonBody,
  setAt,
  sendJson,
} from '../support/app/operations.js';
import { setUpSchedule } from '../support/app/drop-folder.js';

/**
 * The service enforces exactly the limits of the OpenAPI file: a value at a limit is accepted, and a value beyond it is
 * rejected. Covers every bounded text, list and number of the JSON bodies and queries of the API.
 */
interface Bounded {
  type?: string;
  format?: string;
  enum?: string[] | undefined;
  maxLength?: number;
  minLength?: number;
  maxItems?: number;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  items?: Bounded;
}

interface Bound {
  what: 'maxLength' | 'minLength' | 'maxItems' | 'minItems' | 'minimum' | 'maximum';
  fits: Json;
  exceeds: Json;
}

const padTo = (text: string) => (length: number) => text.padEnd(length);
/** Builders of texts of any length that meet the other rules of a field. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  email: (length) =>
    `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.`.padEnd(length - 1, 'd').concat('e'),
  encoding: padTo('utf-8'),
  delimiter: (length) => 'tab'.padEnd(length, 'x'),
  default_roles: padTo('Editor'),
  scopes: (length) => 'imports:write:'.padEnd(length, 'a'),
  networks: (length) => '0000:0000:0000:0000:0000:ffff:255.255.255.255/128'.padEnd(length, '0'),
};

/** Returns the limits of a schema with a value at each limit and a value beyond it. UUIDs and dates have fixed lengths. */
function boundsOf(schema: Bounded, name = ''): Bound[] {
  const { type, format, items } = schema;
  if (format === 'uuid' || format === 'date-time') return [];
  const text = TEXTS[name] ?? ((length: number) => 'a'.repeat(length));
  const list = (length: number) => Array.from({ length }, (_, number) => `${number}`.padStart(1, 'a'));
  const number = (value: number) => value;
  const isOfTexts = type === 'array' && items?.type === 'string';
  const possible: [what: Bound['what'], applies: boolean, value: (bound: number) => Json][] = [
    ['maxLength', type === 'string' && !schema.enum, text],
    ['minLength', type === 'string', text],
    ['maxItems', isOfTexts, list],
    ['minItems', isOfTexts, list],
    ['minimum', type === 'integer', number],
    ['maximum', type === 'integer', number],
  ];
  return possible.flatMap(([what, applies, value]) => {
    const bound = schema[what];
    if (!applies || bound === undefined) return [];
    return [{ what, fits: value(bound), exceeds: value(what.startsWith('max') ? bound + 1 : bound - 1) }];
  });
}

/** Every position in a JSON body: the body, its fields, and the members and elements of the fields. */
const PLACES = OPERATIONS.flatMap((operation) => {
  const body = findJsonBody(operation);
  if (!body) return [];
  return [...listPaths(body.schema)].map(({ path, schema }) => ({
    name: operation.operationId,
    place: path.join('.') || 'the body',
    ...{ operation, body, path, schema },
  }));
});
const OF_API = OPERATIONS.filter(({ path }) => path.startsWith('/api/'));
const FIELDS = PLACES.filter(
  ({ operation, body, path, schema }) =>
    OF_API.includes(operation) &&
    path.length > 0 &&
    !schema.readOnly &&
    body.schema.properties[path[0] ?? '']?.readOnly !== true,
).flatMap((place) =>
  boundsOf(place.schema, place.path.filter((name) => name !== '0').at(-1)).map((bound) => ({
    ...place,
    ...bound,
  })),
);

const LENGTH = /too_long|too_short/;
const app = setUpApp({ ...setUpSchedule(), PASSWORD_MIN_LENGTH: '8' });
/** Paths of records that no request has changed, by operation. */
const paths = new Map<string, string>();

/** Sends a body to a record that no earlier request has changed. */
async function send(operation: Operation, body: Json): Promise<Answer> {
  const at = paths.get(operation.operationId) ?? (await fillPath(app, operation));
  const answer = await sendJson(app, operation, at, body);
  if (answer.status >= 400) paths.set(operation.operationId, at);
  else paths.delete(operation.operationId);
  return answer;
}

/** Returns the errors of a field, as `code: message`. */
function errorsOf({ body }: Answer, [field]: string[]): string[] {
  const errors: { field: string; code: string; message: string }[] = body?.errors ?? [];
  return errors
    .filter((error) => error.field === field || error.field.startsWith(`${field}.`))
    .map(({ code, message }) => `${code}: ${message}`);
}

test.each(PLACES)('$name never returns 5xx for any type of $place', async ({ operation, path, body }) => {
  for (const value of [-0.5, true, '', null, [[]], { a: { b: [null] } }]) {
    const { status } = await send(operation, setAt(body.least, path, value));
    expect([value, status < 500]).toEqual([value, true]);
  }
});

test('the tests of body limits cover every operation with a JSON body', () => {
  expect(new Set(FIELDS.map(({ name }) => name))).toEqual(
    new Set(
      OF_API.filter((operation) => findJsonBody(operation))
        .map(({ operationId }) => operationId)
        .filter((name) => name !== 'generatePassword'), // the body has only a flag, which has no limits
    ),
  );
});

describe('request body limits are enforced', () => {
  test.each(FIELDS)(
    '$name enforces $what of $place',
    async ({ what, operation, path, body, fits, exceeds }) => {
      const listErrors = async (value: Json) =>
        errorsOf(await send(operation, setAt(body.least, path, value)), path);
      const within = await listErrors(fits);
      const beyond = await listErrors(exceeds);
      expect(beyond).not.toEqual([]);
      expect(within).not.toEqual(beyond);
      if (what.endsWith('imum')) expect(within).toEqual([]);
      else expect(within.filter((error) => LENGTH.test(error))).toEqual([]);
    },
  );
});

const PARAMETERS = OF_API.filter(({ method }) => method === 'GET').flatMap((operation) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) => {
      const bounds =
        schema.type === 'array'
          ? boundsOf({ ...schema.items, enum: undefined }, name)
          : boundsOf(schema, name);
      return bounds.map((bound) => ({ ...bound, name, operation, id: operation.operationId }));
    }),
);

test('the tests of query limits cover at least six operations', () => {
  expect(new Set(PARAMETERS.map(({ id }) => id)).size).toBeGreaterThan(5);
});

describe('query parameter limits are enforced', () => {
  test.each(PARAMETERS)('$id enforces $what of $name', async ({ what, operation, name, fits, exceeds }) => {
    const at = await fillPath(app, operation);
    const refusal = async (value: Json) => {
      const { status, body } = await app.key.fetch(
        'GET',
        `${at}?${new URLSearchParams({ [name]: String(value) })}`,
      );
      return status === 400 ? String(body.detail) : status < 500 ? '' : String(status);
    };
    // A number above its maximum is read as the maximum.
    if (what !== 'maximum') expect(await refusal(exceeds)).toContain(name);
    expect(await refusal(fits)).not.toMatch(/^\d|characters/);
  });
});

/** A schema has `additionalProperties: false` exactly where the service rejects unknown keys. */
const KEY = 'unheardOf';
/** Every object in a JSON body for which the OpenAPI file names the members. */
const OBJECTS = PLACES.filter(({ schema }) => schema.properties !== undefined).map((place) => ({
  ...place,
  isClosed: place.schema.additionalProperties === false,
}));

test('the tests of unknown keys cover closed and open schemas', () => {
  const closed = OBJECTS.filter(({ isClosed }) => isClosed).length;
  expect(closed).toBeGreaterThan(20);
  expect(OBJECTS.length - closed).toBeGreaterThan(20);
});

test.each(OBJECTS)(
  '$name treats an unknown key in $place as documented',
  async ({ operation, path, isClosed, body }) => {
    const at = await fillPath(app, operation);
    const answer = await sendJson(app, operation, at, setAt(body.example, [...path, KEY], 1));
    const isRefused = answer.status >= 400 && answer.text.includes(KEY);
    expect([isRefused, answer.status]).toEqual([isClosed, isClosed ? 422 : answer.status]);
  },
);

test.each(OPERATIONS.filter(({ requestBody }) => requestBody?.content['multipart/form-data']))(
  '$operationId rejects a form with an unknown field',
  async ({ method, path, requestBody }) => {
    const form = new FormData();
    form.append(KEY, '1');
    form.append('file', new Blob(['ExternalId\n']), 'users.csv');
    const answer = await fetch(`${app.url}${path}`, { method, body: form, headers: app.key.headers });
    expect(requestBody?.content['multipart/form-data']?.schema.additionalProperties).toBe(false);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(KEY)]);
  },
);
