import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { setUpSchedule } from '../support/app/drop-folder.js';
import { OPERATIONS, fillPath, findJsonBody, listPaths, setAt, sendJson } from '../support/app/operations.js';

/** A schema has `additionalProperties: false` exactly where the service rejects unknown keys. */
const KEY = 'unheardOf';
/** Every object in a JSON body for which the OpenAPI file names the members. */
const OBJECTS = OPERATIONS.flatMap((operation) => {
  const body = findJsonBody(operation);
  if (!body) return [];
  const objects = [...listPaths(body.schema)].filter(({ schema }) => schema.properties !== undefined);
  return objects.map(({ path, schema }) => ({
    name: operation.operationId,
    place: path.join('.') || 'the body',
    operation,
    path,
    isClosed: schema.additionalProperties === false,
    example: body.example,
  }));
});

const app = setUpApp(setUpSchedule());

test('the tests of unknown keys cover closed and open schemas', () => {
  const closed = OBJECTS.filter(({ isClosed }) => isClosed).length;
  expect(closed).toBeGreaterThan(20);
  expect(OBJECTS.length - closed).toBeGreaterThan(20);
});

test.each(OBJECTS)(
  '$name treats an unknown key in $place as documented',
  async ({ operation, path, isClosed, example }) => {
    const at = await fillPath(app, operation);
    const answer = await sendJson(app, operation, at, setAt(example, [...path, KEY], 1));
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
