import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, databaseOf, inSeconds } from '../support/app/people.js';
import { v7 as uuidv7 } from 'uuid';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { SessionsService } from '../../src/sessions/sessions.service.js';
import { SYSTEM } from '../support/app/deletion.js';

/** Listing and ending sessions, by their users and by operators. */
const app = setUpApp({ HASH_QUEUE_LIMIT: '200' });

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

/** A user has at most 20 sessions. The next login ends the oldest session. */
const createUser = (): Promise<Json> => create(app.key, { password: PASSWORD });
const readAll = (user: Json): Promise<Json[]> =>
  readSessions(app.key, `?user_uuid=${user.uuid as string}&limit=100`);
/** Starts sessions as logins do, but without verifying a password. */
async function startSessions(user: Json, count: number): Promise<void> {
  for (let started = 0; started < count; started++)
    await app.app
      .get(TransactionRunner)
      .run((tx) => app.app.get(SessionsService).start(tx, user.uuid as string, SYSTEM));
}
const login = (user: Json) =>
  app.guest.post('/sessions/login', { username: user.username, password: PASSWORD });

test('a login of a user with 20 sessions ends the oldest session', async () => {
  const [user, other] = [await createUser(), await createUser()];
  await login(other);
  await startSessions(user, 20);
  const [newest] = await readAll(user);
  const ahead = uuidv7({ msecs: Date.now() + 48 * 3_600_000 }); // created before the clock was set back
  await databaseOf(app).execute('UPDATE sessions SET id = ? WHERE id = ?', [ahead, newest?.id as string]);
  const before = await readAll(user);
  expect(before).toHaveLength(20);
  expect((await login(user)).status).toBe(200);
  expect((await readAll(user)).slice(1)).toEqual(before.slice(0, -1));
  const oldest = before.at(-1) as { id: string };
  const [created, ended] = await readAuditRows(app, oldest.id);
  expect([created?.action, ended?.action]).toEqual(['session.created', 'session.ended']);
  expect(await readAll(other)).toHaveLength(1);
});

test('expired sessions do not count towards the limit of 20 sessions', async () => {
  const user = await createUser();
  await startSessions(user, 19);
  const live = (await readAll(user)).at(-1) as { id: string }; // the oldest session, which would end first
  await databaseOf(app).execute('UPDATE sessions SET expires = ? WHERE user_uuid = ? AND id <> ?', [
    ...[inSeconds(-1), user.uuid as string, live.id],
  ]);
  await startSessions(user, 4);
  expect((await login(user)).status).toBe(200);
  const after = await readAll(user);
  expect([after.length, after.at(-1)?.id]).toEqual([6, live.id]);
});

test('concurrent logins never leave a user with more than 20 sessions', async () => {
  const user = await createUser();
  await startSessions(user, 15);
  const answers = await Promise.all(Array.from({ length: 15 }, () => login(user)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await readAll(user)).toHaveLength(20);
});
