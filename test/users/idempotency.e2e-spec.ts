import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { databaseOf, inSeconds, problemOf, sha256 } from '../support/app/people.js';

/** The rules that hold for every route are tested in `contract/idempotent-routes`. */
const app = setUpApp();

const findRowId = async (client: Client, key: string): Promise<string> => {
  const { Results } = (await client.get('/audit?action=user.created&limit=1')).body;
  return sha256(JSON.stringify([Results[0].actor.kind, Results[0].actor.id, key]));
};
const post = (body: object, key: string, client: Client = app.key): Promise<Answer> =>
  client.post('/users', body, { 'idempotency-key': key });

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
  const id = await findRowId(app.key, key);
  const setCreated = (hours: number) => {
    const sql = 'UPDATE idempotent_requests SET created = ? WHERE id = ?';
    return databaseOf(app).execute(sql, [inSeconds(-hours * 3600), id]);
  };
  expect(await setCreated(23.9)).toBe(1);
  expect((await post(body, key)).body.uuid).toBe(first.body.uuid);
  expect(await setCreated(24.1)).toBe(1);
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
