import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Answer, Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { csv } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf } from '../support/app/people.js';

/** Number of concurrent copies of a request, which two instances receive. */
const TIMES = 8;
const app = setUpApp();
let second: TestApp;
beforeAll(async () => void (second = await app.startOther()));

type Send = (client: Client, key: Record<string, string>) => Promise<Answer>;
async function sendCopies(send: Send): Promise<Answer[]> {
  const key = { 'idempotency-key': randomUUID() };
  const clients = Array.from({ length: TIMES }, (_, index) => (index % 2 ? app : second).key);
  const answers = await Promise.all(clients.map((client) => send(client, key)));
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(TIMES - 1);
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  return answers;
}
const count = async (table: string): Promise<number> =>
  (await databaseOf(app).queryOne<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`))?.n ?? 0;

test('concurrent copies of an idempotent POST create one user', async () => {
  const [body, before] = [aUser({ external_id: randomUUID() }), await count('users')];
  const [answer] = await sendCopies((client, key) => client.post('/users', body, key));
  expect(answer?.status).toBe(201);
  expect(await count('users')).toBe(before + 1);
});

test('concurrent copies of an idempotent PUT change the user once', async () => {
  const { uuid } = await create(app.key);
  const { etag = '' } = (await app.key.get(`/users/${uuid}`)).headers;
  const [answer] = await sendCopies((client, key) =>
    client.put(`/users/${uuid}`, { phone: '1' }, { 'if-match': etag, ...key }),
  );
  expect(answer?.status).toBe(200);
  expect(await readAuditRows(app, uuid)).toHaveLength(2);
});

test('concurrent copies of an idempotent POST create one API key', async () => {
  const before = await count('api_keys');
  const [answer] = await sendCopies((client, key) => client.post('/api_keys', { name: 'one' }, key));
  expect(await count('api_keys')).toBe(before + 1);
  expect((await app.guest.get('/users/search', { 'x-api-key': answer?.body.key })).status).toBe(200);
});

test('concurrent copies of an idempotent upload create one import', async () => {
  const [file, runs] = [csv('ExternalId,Username,Email', 'R1,r1,r1@example.org'), await count('import_runs')];
  const files = await count('import_file_parts');
  const type = { 'content-type': 'text/csv' };
  await sendCopies((client, key) => client.send('POST', '/imports?dry_run=true', file, { ...type, ...key }));
  expect(await count('import_runs')).toBe(runs + 1);
  expect(await count('import_file_parts')).toBe(files + 1);
});

test('concurrent copies of an idempotent password change all return 200', async () => {
  const { user, client } = await aPerson(app);
  const key = { 'idempotency-key': randomUUID() };
  const change = () =>
    client.put(`/users/${user.uuid}`, { password: 'another long one', current_password: PASSWORD }, key);
  const answers = await Promise.all([change(), change(), change()]);
  answers.push(await change());
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

test('if different requests share an Idempotency-Key, only one succeeds', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const answers = await Promise.all(
    Array.from({ length: TIMES }, (_, index) => (index % 2 ? app : second).key.post('/users', aUser(), key)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(TIMES - 1).fill(422)]);
});
