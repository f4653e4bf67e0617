import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { type Operation, OPERATIONS, filledPath, jsonBody, sendJson } from '../support/app/operations.js';

/** Every link of the OpenAPI file, followed: the value that it takes from an answer leads to a record. */
const LINKS = OPERATIONS.flatMap((operation) =>
  Object.entries(operation.responses).flatMap(([status, { links = {} }]) =>
    Object.values(links).map((link) => ({
      from: operation.operationId,
      to: link.operationId,
      status,
      operation,
      link,
    })),
  ),
);

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test('what makes a record links to it', () => {
  const from = [...new Set(LINKS.map(({ from: name }) => name))];
  expect(from).toEqual(
    expect.arrayContaining([
      'createUser',
      'startImport',
      'createApiKey',
      'saveImportProfile',
      'createScimUser',
    ]),
  );
});

/** A runtime expression of OpenAPI that names a part of the body. */
function valueOf(expression: string, { body }: Answer): string {
  const [, pointer] = /^\$response\.body#\/(\w+)$/.exec(expression) ?? [];
  if (pointer === undefined) throw new Error(`${expression} is not a part of the body`);
  return String((body as Record<string, Json>)[pointer]);
}

async function send(operation: Operation): Promise<Answer> {
  const at = await filledPath(app, operation);
  const body = jsonBody(operation);
  if (body) return sendJson(app, operation, at, unique(body.example));
  const file = operation.requestBody?.content['text/csv'];
  return app.key.raw(operation.method, at, file?.example, file ? { 'content-type': 'text/csv' } : {});
}

let sent = 0;
/** Examples may be sent once: names and addresses belong to one record. */
function unique(example: Json): Json {
  const next = String(++sent);
  const text = JSON.stringify(example).replace(
    /"(username|email|userName|value|externalId|displayName)":"/g,
    `$&${next}`,
  );
  return JSON.parse(text);
}

test.each(LINKS)('$from leads to $to', async ({ operation, status, link }) => {
  const answer = await send(operation);
  expect([answer.status, answer.text]).toEqual([Number(status), answer.text]);
  const target = OPERATIONS.find(({ operationId }) => operationId === link.operationId);
  if (!target) throw new Error(`there is no ${link.operationId}`);
  const [parameter] = Object.entries(link.parameters);
  if (!parameter) throw new Error(`the link to ${target.operationId} gives nothing`);
  const [name, expression] = parameter;
  const path = target.path.replace(`{${name}}`, encodeURIComponent(valueOf(expression, answer)));
  const body = jsonBody(target);
  const followed = await (body
    ? sendJson(app, target, path, body.example)
    : app.key.raw(target.method, path));
  expect([path, Object.keys(target.responses)[0]]).toEqual([path, String(followed.status)]);
});
