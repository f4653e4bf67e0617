import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, awaitRun } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, problemOf } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';

const app = setUpApp();

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

test('a retried idempotent PUT does not undo later changes', async () => {
  const { uuid } = await create(app.key);
  const key = withKey();
  const first = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  await app.key.put(`/users/${uuid}`, { phone: '2' });
  const again = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
  expect((await app.key.get(`/users/${uuid}`)).body.phone).toBe('2');
});

test('an idempotent retry with an outdated If-Match returns the first response', async () => {
  const { uuid } = await create(app.key);
  const { etag = '' } = (await app.key.get(`/users/${uuid}`)).headers;
  const send = (key: object) => app.key.put(`/users/${uuid}`, { phone: '1' }, { 'if-match': etag, ...key });
  const key = withKey();
  const [first, again] = [await send(key), await send(key)];
  expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
  expect((await send(withKey())).status).toBe(412);
});

test('a retried idempotent PUT that changed nothing returns the first response', async () => {
  const { uuid } = await create(app.key, { phone: '1' });
  const key = withKey();
  const first = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  await app.key.put(`/users/${uuid}`, { phone: '2' });
  const again = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  expect([again.status, again.text]).toEqual([200, first.text]);
});

test('the same Idempotency-Key with a different query is rejected', async () => {
  const key = withKey();
  const upload = (query: string): Promise<Answer> => {
    const type = { 'content-type': 'text/csv' };
    return app.key.send('POST', `/imports?${query}`, csv('ExternalId', 'Q1'), { ...type, ...key });
  };
  expect((await upload('dry_run=true')).status).toBe(202);
  const other = await upload('dry_run=true&mode=update_only');
  expect(refusalOf(other)).toEqual([422, 'Idempotency-Key invalid_value']);
});

test('an idempotent form upload may be retried with another boundary', async () => {
  const key = withKey();
  const sendForm = (boundary: string, mode: string): Promise<Answer> => {
    const formatPart = (head: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
    const lines = csv('ExternalId,Username,Email', 'F1,f1,f1@example.org');
    const file = formatPart('name="file"; filename="a.csv"', lines);
    const body = `${formatPart('name="dry_run"', 'true')}${formatPart('name="mode"', mode)}${file}--${boundary}--\r\n`;
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    return app.key.send('POST', '/imports', body, { ...type, ...key });
  };
  const first = await sendForm('one', 'upsert');
  const again = await sendForm('two', 'upsert');
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect((await sendForm('three', 'create_only')).status).toBe(422);
  await awaitRun(app.key, first.body.id);
});

test('a stored response with a new API key is encrypted', async () => {
  const [name, key] = [randomUUID(), randomUUID()];
  const first = await app.key.post('/api_keys', { name }, withKey(key));
  expect((await app.key.post('/api_keys', { name }, withKey(key))).body.key).toBe(first.body.key);
  const rows = JSON.stringify(await databaseOf(app).query('SELECT * FROM idempotent_requests'));
  for (const secret of [first.body.key, key, name]) {
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(Buffer.from(String(secret)).toString('base64').slice(0, -4));
  }
});

test('a retry returns 500 if the stored response was replaced', async () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  const body = { name: 'moved' };
  await app.key.post('/api_keys', body, withKey(mine));
  const database = databaseOf(app);
  const readRows = () =>
    database.query<{ id: string; answer: string }>('SELECT id, answer FROM idempotent_requests');
  const before = new Set((await readRows()).map(({ id }) => id));
  await app.key.post('/api_keys', body, withKey(other));
  const [row] = (await readRows()).filter(({ id }) => !before.has(id));
  const [foreign] = (await readRows()).filter(({ id }) => before.has(id));
  const replacement = [foreign?.answer ?? '', row?.id ?? ''];
  await database.execute('UPDATE idempotent_requests SET answer = ? WHERE id = ?', replacement);
  expect(problemOf(await app.key.post('/api_keys', body, withKey(other)))).toEqual([500, 'internal']);
});

test('an idempotent retry returns 403 if the user lost the permission', async () => {
  const { user, client } = await aPerson(app, { roles: ['Webmaster'] });
  const key = withKey();
  const send = () => client.post('/api_keys', { name: 'x' }, key);
  expect((await send()).status).toBe(201);
  await app.key.put(`/users/${user.uuid}`, { roles: ['Editor'] });
  expect((await send()).status).toBe(401); // a change of roles ends the sessions
  const again = (await app.login(user.username, PASSWORD)).with(key);
  expect(problemOf(await again.post('/api_keys', { name: 'x' }))).toEqual([403, 'forbidden']);
});
