import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, settled } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, fieldErrorsOf, problemOf } from '../support/app/people.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const once = (key: string = randomUUID()) => ({ 'idempotency-key': key });

test('a change that is repeated after another change gets its first answer, and undoes nothing', async () => {
  const { uuid } = await create(app.key);
  const key = once();
  const first = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  await app.key.put(`/users/${uuid}`, { phone: '2' });
  const again = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
  expect((await app.key.get(`/users/${uuid}`)).body.phone).toBe('2');
});

test('a change with If-Match that is repeated gets its first answer, not 412', async () => {
  const { uuid } = await create(app.key);
  const { etag = '' } = (await app.key.get(`/users/${uuid}`)).headers;
  const send = (key: object) => app.key.put(`/users/${uuid}`, { phone: '1' }, { 'if-match': etag, ...key });
  const key = once();
  const [first, again] = [await send(key), await send(key)];
  expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
  expect((await send(once())).status).toBe(412);
});

test('a change of nothing is answered once', async () => {
  const { uuid } = await create(app.key, { phone: '1' });
  const key = once();
  const first = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  await app.key.put(`/users/${uuid}`, { phone: '2' });
  const again = await app.key.put(`/users/${uuid}`, { phone: '1' }, key);
  expect([again.status, again.text]).toEqual([200, first.text]);
});

test('the query is part of the request', async () => {
  const key = once();
  const upload = (query: string): Promise<Answer> => {
    const type = { 'content-type': 'text/csv' };
    return app.key.send('POST', `/imports?${query}`, csv('ExternalId', 'Q1'), { ...type, ...key });
  };
  expect((await upload('dry_run=true')).status).toBe(202);
  expect(fieldErrorsOf(await upload('dry_run=true&mode=update_only'))).toEqual([
    ['Idempotency-Key', 'invalid_value'],
  ]);
});

test('a form is the same request whatever its boundary is, and another one with other options', async () => {
  const key = once();
  const form = (boundary: string, mode: string): Promise<Answer> => {
    const part = (head: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
    const file = part(
      'name="file"; filename="a.csv"',
      csv('ExternalId,Username,Email', 'F1,f1,f1@example.org'),
    );
    const body = `${part('name="dry_run"', 'true')}${part('name="mode"', mode)}${file}--${boundary}--\r\n`;
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    return app.key.send('POST', '/imports', body, { ...type, ...key });
  };
  const first = await form('one', 'upsert');
  const again = await form('two', 'upsert');
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect((await form('three', 'create_only')).status).toBe(422);
  await settled(app.key, first.body.id);
});

test('the secret of a new API key is stored under the key of its request only', async () => {
  const [name, key] = [randomUUID(), randomUUID()];
  const first = await app.key.post('/api_keys', { name }, once(key));
  expect((await app.key.post('/api_keys', { name }, once(key))).body.key).toBe(first.body.key);
  const rows = JSON.stringify(await databaseOf(app).query('SELECT * FROM idempotent_requests'));
  for (const secret of [first.body.key, key, name]) {
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(Buffer.from(String(secret)).toString('base64').slice(0, -4));
  }
});

test('an answer that was moved to another row is not given out', async () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  const body = { name: 'moved' };
  await app.key.post('/api_keys', body, once(mine));
  const database = databaseOf(app);
  const rows = () =>
    database.query<{ id: string; answer: string }>('SELECT id, answer FROM idempotent_requests');
  const before = new Set((await rows()).map(({ id }) => id));
  await app.key.post('/api_keys', body, once(other));
  const [row] = (await rows()).filter(({ id }) => !before.has(id));
  const [foreign] = (await rows()).filter(({ id }) => before.has(id));
  await database.execute('UPDATE idempotent_requests SET answer = ? WHERE id = ?', [
    foreign?.answer ?? '',
    row?.id ?? '',
  ]);
  expect(problemOf(await app.key.post('/api_keys', body, once(other)))).toEqual([500, 'internal']);
});

test('a repetition is asked for its permission like any request', async () => {
  const { user, client } = await aPerson(app, { roles: ['Webmaster'] });
  const key = once();
  const send = () => client.post('/api_keys', { name: 'x' }, key);
  expect((await send()).status).toBe(201);
  await app.key.put(`/users/${user.uuid}`, { roles: ['Editor'] });
  expect((await send()).status).toBe(401); // a change of roles ends the sessions
  const again = (await app.login(user.username, PASSWORD)).with(key);
  expect(problemOf(await again.post('/api_keys', { name: 'x' }))).toEqual([403, 'forbidden']);
});
