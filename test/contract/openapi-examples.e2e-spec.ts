import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_PASSWORD, setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { setUpSchedule } from '../support/app/drop-folder.js';
import { OPERATIONS, type Operation, fillPath, findJsonBody } from '../support/app/operations.js';
import { ROOT } from '../support/process/process.js';

const FORM = 'multipart/form-data';
const SAMPLE = readFileSync(join(ROOT, 'samples/users.csv'), 'utf8');

/** Every operation with each example of its body, which Swagger UI fills in: [title, operation, body]. */
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
    : [[title, operation, findJsonBody(operation)?.example] as [string, Operation, unknown]];
});

/** Returns true unless an operation is public. A public operation has an empty security requirement. */
const needsKey = (security: object[] = []) => security.some((scheme) => Object.keys(scheme).length > 0);
const SESSION_ONLY = /^(getCurrentUser|logOut|confirmSession)$/;

const app = setUpApp(setUpSchedule());

async function chooseClient({ operationId, security }: Operation): Promise<Client> {
  if (SESSION_ONLY.test(operationId)) return app.login();
  return needsKey(security) ? app.key : app.guest;
}

/** Builds the body as Swagger UI sends it. A login or confirmation gets a valid password, and a form gets the sample as its file. */
function bodyOf(
  { operationId, requestBody }: Operation,
  example: unknown,
): [body?: string, type?: string | undefined] {
  if (requestBody?.content[FORM]) {
    const formatPart = (head: string, text: string) =>
      `--sample\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
    const file = formatPart('name="file"; filename="users.csv"\r\nContent-Type: text/csv', SAMPLE);
    const option = requestBody.content['text/csv'] ? formatPart('name="dry_run"', 'true') : '';
    return [`${option}${file}--sample--\r\n`, `${FORM}; boundary=sample`];
  }
  if (example === undefined) return [];
  const password = /^(logIn|confirmSession)$/.test(operationId) && { password: ADMIN_PASSWORD };
  const type = Object.keys(requestBody?.content ?? {}).find((name) => name.endsWith('json'));
  return [JSON.stringify(Array.isArray(example) ? example : { ...(example as object), ...password }), type];
}

test.each(EXAMPLES)('the documented example of %s works', async (_title, operation, example) => {
  const client = await chooseClient(operation);
  const path = await fillPath(app, operation);
  const [body, type] = bodyOf(operation, example);
  const headers = type === undefined ? {} : { 'content-type': type };
  const answer = await client.fetchChecked(operation.method, path, body, headers);
  const [status = ''] = Object.keys(operation.responses);
  expect(`${answer.status} ${answer.text}`).toMatch(new RegExp(`^${status} `));
});
