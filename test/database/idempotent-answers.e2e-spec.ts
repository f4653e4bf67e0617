import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { create, aUser } from '../support/data/factories.js';
import { csv, awaitRun } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, problemOf, inSeconds } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';

/** The rules that hold for every route are tested in `contract/idempotent-routes`. */
const app = setUpApp();

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

test.each([
  ['changed the user', ''],
  ['changed nothing', '1'],
])('a retried idempotent PUT that %s does not undo later changes', async (_, phone) => {
  const { uuid } = await create(app.key, { phone });
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

const post = (body: object, key: string, client: Client = app.key): Promise<Answer> =>
  client.post('/users', body, withKey(key));

test('a corrected POST can reuse the Idempotency-Key of a rejected POST', async () => {
  const [holder, key] = [await create(app.key), randomUUID()];
  const body = aUser();
  expect((await post({ ...body, phone: 5 }, key)).status).toBe(422);
  expect((await post({ ...body, username: holder.username }, key)).status).toBe(409);
  expect((await post(body, key)).status).toBe(201);
});

test('POSTs with the same Idempotency-Key but different credentials create separate users', async () => {
  const [key, admin] = [randomUUID(), await app.login()];
  const first = await post(aUser(), key);
  const second = await post(aUser(), key, admin);
  expect({ first: first.status, second: second.status }).toEqual({ first: 201, second: 201 });
  expect(second.body.uuid).not.toBe(first.body.uuid);
});

test('an Idempotency-Key expires after 24 hours', async () => {
  const [body, key] = [aUser(), randomUUID()];
  const first = await post(body, key);
  const setCreated = (hours: number) =>
    databaseOf(app).execute('UPDATE idempotent_requests SET created = ?', [inSeconds(-hours * 3600)]);
  await setCreated(23.9);
  expect((await post(body, key)).body.uuid).toBe(first.body.uuid);
  await setCreated(24.1);
  const other = aUser();
  const answer = await post(other, key);
  expect(answer.status).toBe(201);
  expect(answer.body.uuid).not.toBe(first.body.uuid);
  expect((await post(other, key)).body.uuid).toBe(answer.body.uuid);
});

test.each([
  ['is empty', ''],
  ['contains a space', 'with space'],
  ['has 256 characters', 'x'.repeat(256)],
  ['contains a letter outside ASCII', 'ä'],
])('a POST returns 400 if its Idempotency-Key %s', async (_, key) => {
  expect(problemOf(await post(aUser(), key))).toEqual([400, 'invalid_parameter']);
});
