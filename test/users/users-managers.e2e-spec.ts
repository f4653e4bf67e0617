import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';

const app = setUpApp();

const UNKNOWN = '00000000-0000-0000-0000-000000000000';
const put = (user: Json, manager: string | null) =>
  app.key.put(`/users/${user.uuid}`, { manager_uuid: manager });
/** Creates users who each have the next user as manager. The last user has no manager. */
async function createChain(length: number): Promise<Json[]> {
  const users: Json[] = [];
  for (let i = 0; i < length; i++)
    users.unshift(await create(app.key, { manager_uuid: users[0]?.uuid ?? null }));
  return users;
}

test('an unknown manager_uuid returns 422', async () => {
  const user = await create(app.key);
  expect(refusalOf(await put(user, UNKNOWN))).toEqual([422, 'manager_uuid unknown_reference']);
  const created = await app.key.post('/users', aUser({ manager_uuid: UNKNOWN }));
  expect(refusalOf(created)).toEqual([422, 'manager_uuid unknown_reference']);
});

test('users cannot be their own manager', async () => {
  const user = await create(app.key);
  expect(refusalOf(await put(user, user.uuid))).toEqual([422, 'manager_uuid self_reference']);
  expect(refusalOf(await put(user, user.uuid.toUpperCase()))).toEqual([422, 'manager_uuid self_reference']);
});

test.each([2, 3, 30])('a chain of %d managers cannot be closed into a cycle', async (length) => {
  const users = await createChain(length);
  const top = users.at(-1);
  expect(refusalOf(await put(top, users[0].uuid))).toEqual([422, 'manager_uuid cycle']);
  expect((await app.key.get(`/users/${top.uuid}`)).body).toEqual(top);
});

test('a user can become the manager of their former manager', async () => {
  const [lower, upper] = await createChain(2);
  expect((await put(lower, null)).body.manager_uuid).toBeNull();
  expect((await put(upper, lower.uuid)).body.manager_uuid).toBe(lower.uuid);
  expect(refusalOf(await put(lower, upper.uuid))).toEqual([422, 'manager_uuid cycle']);
});

test('a user can get a new manager from the same hierarchy', async () => {
  const [one, two, manager] = await createChain(3);
  const other = await create(app.key, { manager_uuid: manager.uuid });
  expect((await put(one, other.uuid)).status).toBe(200);
  expect((await put(two, one.uuid)).body.manager_uuid).toBe(one.uuid);
});

test('updating a user keeps the manager even if the manager is blocked', async () => {
  const [user, manager] = await createChain(2);
  await app.key.put(`/users/${manager.uuid}`, { status: 'Blocked' });
  const answer = await app.key.put(`/users/${user.uuid}`, { ...user, surname: 'Doe' });
  expect([answer.status, answer.body.manager_uuid]).toEqual([200, manager.uuid]);
});
