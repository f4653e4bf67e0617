import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD } from '../support/app/people.js';

/** Listing and ending sessions, by their users and by operators. */
const app = setUpApp();

const createPerson = async (roles: string[] = []): Promise<{ user: Json; login: () => Promise<Client> }> => {
  const user = await create(app.key, { password: PASSWORD, roles });
  return { user, login: () => app.login(user.username, PASSWORD) };
};
const readSessions = async (client: Client, query = ''): Promise<Json[]> =>
  (await client.get(`/sessions${query}`)).body.Results;
const isAlive = async (client: Client) => (await client.get('/users/me')).status === 200;

test('users can list their own sessions', async () => {
  const { user, login } = await createPerson();
  const [first, second] = [await login(), await login()];
  const list = await readSessions(second);
  expect(list.map(({ user_uuid, current }) => [user_uuid, current])).toEqual([
    [user.uuid, true],
    [user.uuid, false],
  ]);
  expect(Object.keys(list[0]).sort()).toEqual(['created', 'current', 'expires', 'id', 'ip', 'user_uuid']);
  expect((await readSessions(first)).map(({ current }) => current)).toEqual([false, true]);
});

test('users can end only their own sessions', async () => {
  const { login } = await createPerson();
  const other = await createPerson();
  const [first, second, foreign] = [await login(), await login(), await other.login()];
  const [own] = (await readSessions(second)).filter(({ current }) => !current);
  const [theirs] = await readSessions(foreign);
  expect((await second.delete(`/sessions/${theirs.id as string}`)).status).toBe(404);
  expect((await second.delete(`/sessions/${own.id as string}`)).status).toBe(204);
  expect(await isAlive(first)).toBe(false);
  expect(await isAlive(second)).toBe(true);
  expect(await isAlive(foreign)).toBe(true);
  expect((await second.delete(`/sessions/${own.id as string}`)).status).toBe(404);
});

test('an API key can list and end the sessions of any user', async () => {
  const { user, login } = await createPerson();
  const client = await login();
  expect((await app.key.get('/sessions')).body.Count).toBeGreaterThan(1);
  const [session, ...more] = await readSessions(app.key, `?user_uuid=${user.uuid.toUpperCase() as string}`);
  expect([session.user_uuid, session.current, more]).toEqual([user.uuid, false, []]);
  expect((await app.key.delete(`/sessions/${session.id as string}`)).status).toBe(204);
  expect(await isAlive(client)).toBe(false);
  const [created, ended] = await readAuditRows(app, session.id);
  expect([created?.action, ended?.action]).toEqual(['session.created', 'session.ended']);
  expect(JSON.parse(ended?.changes ?? '')).toEqual([{ field: 'user_uuid', old: user.uuid }]);
  const { Results } = (await app.key.get(`/audit?target=${session.id}`)).body;
  expect(Results[0].changes[0]).toMatchObject({ old: user.uuid, old_name: user.username });
});

test('DELETE /users/{uuid}/sessions ends all sessions of the user', async () => {
  const { user, login } = await createPerson();
  const other = await (await createPerson()).login();
  const [first, second] = [await login(), await login()];
  expect((await second.delete(`/users/${user.uuid as string}/sessions`)).status).toBe(204);
  expect(await isAlive(first)).toBe(false);
  expect(await isAlive(second)).toBe(false);
  expect(await isAlive(other)).toBe(true);
  const third = await login();
  expect((await app.key.delete(`/users/${user.uuid as string}/sessions`)).status).toBe(204);
  expect((await app.key.delete(`/users/${user.uuid as string}/sessions`)).status).toBe(204);
  expect(await isAlive(third)).toBe(false);
  expect((await app.key.delete('/users/00000000-0000-4000-8000-00000000dead/sessions')).status).toBe(404);
});
