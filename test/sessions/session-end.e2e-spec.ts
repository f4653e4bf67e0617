import { beforeAll, expect, test } from '@jest/globals';
import { type TestApp, setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, type Person, aPerson, databaseOf, problemOf } from '../support/app/people.js';

const app = setUpApp();
/** A second instance on the same database. The instance that was created last looks up the sessions. */
let other: TestApp;

beforeAll(async () => void (other = await app.startOther()));

/** Returns the status of a request with this session on each instance. */
const probe = async ({ headers }: Client) => [
  (await app.guest.get('/users/me', headers)).status,
  (await other.guest.get('/users/me', headers)).status,
];
const ALIVE = [200, 200];
const ENDED = [401, 401];

const change = async (user: Json, body: object) => {
  expect((await app.key.put(`/users/${user.uuid}`, body)).status).toBe(200);
};

/** Creates a user with two sessions that were used on both instances. */
async function startTwo(overrides: Record<string, unknown> = {}): Promise<Person & { second: Client }> {
  const person = await aPerson(app, overrides);
  const second = await app.login(person.user.username, PASSWORD);
  expect(await probe(person.client)).toEqual(ALIVE);
  expect(await probe(second)).toEqual(ALIVE);
  return { ...person, second };
}

test('a logout ends only its own session', async () => {
  const { client, second } = await startTwo();
  const answer = await client.post('/sessions/logout');
  expect([answer.status, answer.body]).toEqual([200, {}]);
  expect({ one: await probe(client), two: await probe(second) }).toEqual({ one: ENDED, two: ALIVE });
  expect(problemOf(await client.post('/sessions/logout'))).toEqual([401, 'unauthenticated']);
});

test('a logout with an API key does not end the session of a cookie in the same request', async () => {
  const { client } = await aPerson(app);
  const both = await app.key.post('/sessions/logout', undefined, client.headers);
  expect(problemOf(both)).toEqual([401, 'unauthenticated']);
  expect(await probe(client)).toEqual(ALIVE);
});

test.each<[string, object, object]>([
  ['is blocked', {}, { status: 'Blocked' }],
  ['becomes a Webmaster', {}, { roles: ['Webmaster'] }],
  ['becomes a Webmaster and keeps other roles', { roles: ['Editor'] }, { roles: ['Editor', 'Webmaster'] }],
  ['loses the role Webmaster', { roles: ['Webmaster'] }, { roles: [] }],
  ['gets a new password', {}, { password: 'another long password' }],
  ['loses the password', {}, { password: null }],
])('all sessions end when the user %s', async (_, before, after) => {
  const { user, client, second } = await startTwo({ ...before });
  const bystander = await aPerson(app);
  await change(user, after);
  expect({ one: await probe(client), two: await probe(second) }).toEqual({ one: ENDED, two: ENDED });
  expect(await probe(bystander.client)).toEqual(ALIVE);
  expect(await databaseOf(app).query('SELECT id FROM sessions WHERE user_uuid = ?', [user.uuid])).toEqual([]);
});

test.each<[string, object, string[]?]>([
  ['new roles', { roles: ['Editor', 'Publisher'] }],
  ['a new name', { username: `renamed-${Date.now()}`, surname: 'Other' }],
  ['the current status again', { status: 'Active' }],
  ['more roles and stays a Webmaster', { roles: ['Editor', 'Webmaster'] }, ['Webmaster']],
])('a session continues if its user gets %s', async (_, after, roles = ['Editor']) => {
  const { user, client } = await startTwo({ roles });
  await change(user, after);
  expect(await probe(client)).toEqual(ALIVE);
});

test('a rejected change of a user ends no session', async () => {
  const { user, client, second } = await startTwo();
  const taken = (await create(app.key)).username;
  const refused: [number, object, Record<string, string>?][] = [
    [422, { status: 'Blocked', phone: 5 }],
    [422, { password: 'short' }],
    [409, { status: 'Blocked', username: taken }],
    [412, { status: 'Blocked' }, { 'if-match': '"x"' }],
  ];
  for (const [status, body, headers] of refused)
    expect((await app.key.put(`/users/${user.uuid}`, body, headers)).status).toBe(status);
  expect({ one: await probe(client), two: await probe(second) }).toEqual({ one: ALIVE, two: ALIVE });
});

test("a user's own password change ends all other sessions", async () => {
  const { user, client, second } = await startTwo();
  const body = { password: 'another long password', current_password: PASSWORD };
  expect((await client.put(`/users/${user.uuid}`, body)).status).toBe(200);
  expect({ one: await probe(client), two: await probe(second) }).toEqual({ one: ALIVE, two: ENDED });
  expect(await probe(await app.login(user.username, 'another long password'))).toEqual(ALIVE);
});

test('Webmasters who remove their own role lose all sessions', async () => {
  const { user, client, second } = await startTwo({ roles: ['Webmaster'] });
  expect((await client.put(`/users/${user.uuid}`, { roles: ['Editor'] })).status).toBe(200);
  expect({ one: await probe(client), two: await probe(second) }).toEqual({ one: ENDED, two: ENDED });
});

test('the permissions of a session follow the current roles of the user', async () => {
  const { user, client } = await startTwo();
  const colleague = await create(app.key);
  expect((await client.get(`/users/${colleague.uuid}`)).status).toBe(200);
  await change(user, { roles: ['External user'] });
  expect(problemOf(await client.get(`/users/${colleague.uuid}`))).toEqual([403, 'forbidden']);
  await change(user, { roles: ['Editor'] });
  expect((await client.get(`/users/${colleague.uuid}`)).status).toBe(200);
});

test('a password change takes effect on every instance', async () => {
  const { user } = await aPerson(app);
  const tryLogin = async (password: string) =>
    (await other.guest.post('/sessions/login', { username: user.username, password })).status;
  await change(user, { password: 'another long password' });
  expect(await tryLogin(PASSWORD)).toBe(401);
  expect(await tryLogin('another long password')).toBe(200);
});
