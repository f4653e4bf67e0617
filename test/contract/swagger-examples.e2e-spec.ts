import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { OPERATIONS, type Operation, filledPath, jsonBody } from '../support/app/operations.js';
import { ROOT } from '../support/process/process.js';

const FORM = 'multipart/form-data';
const SAMPLE = readFileSync(join(ROOT, 'samples/users.csv'), 'utf8');

/** Every operation with every example that its body offers, which Swagger UI fills in: [title, operation, body]. */
const EXAMPLES = OPERATIONS.flatMap((operation) => {
  const offered = Object.values(operation.requestBody?.content ?? {}).flatMap(({ examples }) =>
    Object.entries(examples ?? {}),
  );
  const title = `${operation.method} ${operation.path.replace('/api/0.3', '')}`;
  return offered.length > 0
    ? offered.map(([name, { value }]): [string, Operation, unknown] => [
        `${title} (${name})`,
        operation,
        value,
      ])
    : [[title, operation, jsonBody(operation)?.example] as [string, Operation, unknown]];
});

/** A public operation has an empty security requirement. */
const needsKey = (security: object[] = []) => security.some((scheme) => Object.keys(scheme).length > 0);
const OF_SESSIONS = /^(getCurrentUser|logOut)$/;

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

async function clientFor({ operationId, security }: Operation): Promise<Client> {
  if (OF_SESSIONS.test(operationId)) return app.login();
  return needsKey(security) ? app.key : app.nobody;
}

/** The body as Swagger UI sends it: the login has a password that no user has, a form has the sample as its file. */
function bodyOf(
  { operationId, requestBody }: Operation,
  example: unknown,
): [body?: string, type?: string | undefined] {
  if (requestBody?.content[FORM]) {
    const part = (head: string, text: string) =>
      `--sample\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
    const file = part('name="file"; filename="users.csv"\r\nContent-Type: text/csv', SAMPLE);
    return [`${part('name="dry_run"', 'true')}${file}--sample--\r\n`, `${FORM}; boundary=sample`];
  }
  if (example === undefined) return [];
  const password = operationId === 'logIn' && { password: ADMIN_PASSWORD };
  const type = Object.keys(requestBody?.content ?? {}).find((name) => name.endsWith('json'));
  return [JSON.stringify(Array.isArray(example) ? example : { ...(example as object), ...password }), type];
}

test.each(EXAMPLES)('%s: the example works unchanged', async (_title, operation, example) => {
  const client = await clientFor(operation);
  const path = await filledPath(app, operation);
  const [body, type] = bodyOf(operation, example);
  const headers = type === undefined ? {} : { 'content-type': type };
  const { status, text } = await client.checked(operation.method, path, body, headers);
  expect(`${status} ${text}`).toMatch(new RegExp(`^${Object.keys(operation.responses)[0]} `));
});
