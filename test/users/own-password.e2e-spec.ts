import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { listEvents } from '../support/app/audit-rows.js';
import { aKey } from '../support/app/credentials.js';
import { stopClock } from '../support/app/clock.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';

const NEW = 'a better password';
const WRONG = [422, 'current_password invalid_value'];
const MISSING = [422, 'current_password required'];

const app = setUpApp({ LOGIN_FAILURES_PER_IP: '1000' });
beforeEach(() => void stopClock());
afterEach(() => void jest.useRealTimers());

const tryLogin = async (username: string, password: string) =>
  (await app.guest.post('/sessions/login', { username, password })).status;

test('users can change their own password with the current password', async () => {
  const { user, client } = await aPerson(app, { roles: ['External user'] });
  const answer = await client.put(`/users/${user.uuid}`, { password: NEW, current_password: PASSWORD });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toMatch(/password"/);
  expect(await tryLogin(user.username, PASSWORD)).toBe(401);
  expect(await tryLogin(user.username, NEW)).toBe(200);
});

test.each([
  ['without the current password', { password: NEW }, MISSING],
  ['with a wrong current password', { password: NEW, current_password: 'wrong' }, WRONG],
  ['with the new password as current_password', { password: NEW, current_password: NEW }, WRONG],
  ['to null without the current password', { password: null }, MISSING],
])('users cannot change their own password %s', async (_, body, refusal) => {
  const { user, client } = await aPerson(app);
  expect(refusalOf(await client.put(`/users/${user.uuid}`, { ...body, known_as: 'Kim' }))).toEqual(refusal);
  expect(await tryLogin(user.username, PASSWORD)).toBe(200);
  expect((await client.get('/users/me')).body.known_as).toBe('');
});

test('setting the password of another user needs no current_password', async () => {
  const user = await create(app.key);
  const webmaster = await app.login();
  expect((await webmaster.put(`/users/${user.uuid}`, { password: PASSWORD })).status).toBe(200);
  expect(await tryLogin(user.username, PASSWORD)).toBe(200);
  expect((await app.key.put(`/users/${user.uuid}`, { password: NEW })).status).toBe(200);
  expect(await tryLogin(user.username, NEW)).toBe(200);
});

test('wrong current passwords in a PUT are throttled like failed logins', async () => {
  const { user, client } = await aPerson(app);
  const attempt = (current_password: string) =>
    client.put(`/users/${user.uuid}`, { password: NEW, current_password });
  for (let time = 0; time < 5; time++) expect((await attempt(`guess ${time}`)).status).toBe(422);

  const answer = await attempt(PASSWORD);
  expect(problemOf(answer)).toEqual([429, 'login_throttled']);
  expect(answer.headers['retry-after']).toBe(String(15 * 60));
  expect((await client.put(`/users/${user.uuid}`, { known_as: 'Kim' })).status).toBe(200);
  const failures = (await listEvents(app.key, user)).filter(
    ({ action }) => action === 'session.login_failed',
  );
  const changes = [{ field: 'username', old: null, new: user.username }];
  expect(failures).toMatchObject([{ actor: { kind: 'user', id: user.uuid }, changes }]);

  await databaseOf(app).execute('UPDATE login_failures SET window_ends = ?', [inSeconds(-1)]);
  expect((await attempt(PASSWORD)).status).toBe(200);
});

describe('current_password in a PUT', () => {
  test.each([PASSWORD, 'wrong'])('returns 422 without a new password: %j', async (current_password) => {
    const { user, client } = await aPerson(app);
    expect(refusalOf(await client.put(`/users/${user.uuid}`, { known_as: 'Kim', current_password }))).toEqual(
      WRONG,
    );
    expect((await client.get('/users/me')).body.known_as).toBe('');
  });

  test('is refused in a change of another user', async () => {
    const user = await create(app.key, { password: PASSWORD });
    for (const client of [app.key, await app.login()]) {
      const body = { password: NEW, current_password: PASSWORD };
      for (const sent of [body, { ...body, password: null }, { current_password: PASSWORD }])
        expect(refusalOf(await client.put(`/users/${user.uuid}`, sent))).toEqual(WRONG);
    }
    expect(await tryLogin(user.username, PASSWORD)).toBe(200);
  });

  test('causes a single error if too long', async () => {
    const user = await create(app.key);
    const answer = await app.key.put(`/users/${user.uuid}`, { current_password: 'x'.repeat(200) });
    expect(refusalOf(answer)).toEqual([422, 'current_password too_long']);
  });

  test('is also required from Webmasters', async () => {
    const { user, client } = await aPerson(app, { roles: ['Webmaster'] });
    const change = (body: object) => client.put(`/users/${user.uuid}`, body);
    expect(refusalOf(await change({ password: NEW, current_password: 'wrong' }))).toEqual(WRONG);
    expect(await tryLogin(user.username, PASSWORD)).toBe(200);
    expect((await change({ password: NEW, current_password: PASSWORD })).status).toBe(200);
    expect(await tryLogin(user.username, NEW)).toBe(200);
    expect(refusalOf(await change({ password: PASSWORD }))).toEqual(MISSING);
  });

  test.each([null, ''])('is ignored with the value %j', async (current_password) => {
    const user = await create(app.key);
    const answer = await app.key.put(`/users/${user.uuid}`, { known_as: 'Kim', current_password });
    expect([answer.status, answer.body.known_as]).toEqual([200, 'Kim']);
  });
});

describe('a generated password', () => {
  const generate = async (uuid: string, body: object = {}, client = app.key) =>
    client.post(`/users/${uuid}/password`, body);

  test('ends the sessions and must be replaced before anything else', async () => {
    const { user, client } = await aPerson(app, { roles: ['Webmaster'] });
    const answer = await generate(user.uuid);
    expect(answer.status).toBe(200);
    const { password } = answer.body;
    expect(Object.keys(answer.body)).toEqual(['password']);
    expect((await client.get('/users/me')).status).toBe(401);
    const [event] = await listEvents(app.key, user);
    expect(JSON.stringify(event)).not.toContain(password);
    expect(event?.changes).toContainEqual({ field: 'password' });

    const session = await app.login(user.username, password);
    const path = `/users/${user.uuid}`;
    expect((await session.get('/users/me')).body.password_change_required).toBe(true);
    const other = await create(app.key);
    const refused = [403, 'password_change_required'];
    for (const request of ['/users/search', '/sessions', '/audit', `/users/${other.uuid}`, '/roles'])
      expect(problemOf(await session.get(request))).toEqual(refused);
    const proof = { current_password: password };
    expect(problemOf(await session.put(path, { phone: '1' }))).toEqual(refused);
    expect(problemOf(await session.put(path, { password: NEW, ...proof, phone: '1' }))).toEqual(refused);
    expect(problemOf(await session.put(`/users/${other.uuid}`, { password: NEW }))).toEqual(refused);
    expect(problemOf(await session.delete(`${path}/sessions`))).toEqual(refused);
    const same = await session.put(path, { password, ...proof });
    expect(refusalOf(same)).toEqual([422, 'password invalid_value']);
    expect((await session.put(path, { password: NEW, ...proof })).status).toBe(200);
    expect((await session.get('/users/search')).status).toBe(200);
    expect((await session.get('/users/me')).body.password_change_required).toBe(false);
  });

  test.each(['logout', 'a password that an operator sets', 'must_change: false'])(
    'permits %s',
    async (what) => {
      const { user } = await aPerson(app);
      const { password } = (await generate(user.uuid, { must_change: what !== 'must_change: false' })).body;
      const session = await app.login(user.username, password);
      if (what === 'logout') expect((await session.post('/sessions/logout')).status).toBe(200);
      else if (what === 'must_change: false') expect((await session.get('/users/search')).status).toBe(200);
      else {
        await app.key.put(`/users/${user.uuid}`, { password: NEW });
        const next = await app.login(user.username, NEW);
        expect((await next.get('/users/search')).status).toBe(200);
      }
    },
  );

  test('has the same effect as a password that an operator sets with password_change_required', async () => {
    const { user, client } = await aPerson(app);
    const [path, must] = [`/users/${user.uuid}`, { password_change_required: true }];
    const own = { password: NEW, current_password: PASSWORD, ...must };
    for (const sent of [client.put(path, own), app.key.put(path, { phone: '1', ...must })])
      expect((await sent).body.password_change_required).toBe(false);
    await app.key.put(path, { password: `${NEW} again`, ...must });
    const session = await app.login(user.username, `${NEW} again`);
    expect(problemOf(await session.get('/users/search'))).toEqual([403, 'password_change_required']);
  });

  test('is refused for the account of the caller, and for a Webmaster without the scope webmasters', async () => {
    const webmaster = await app.login();
    const { uuid } = (await webmaster.get('/users/me')).body;
    expect(problemOf(await generate(uuid, {}, webmaster))).toEqual([403, 'forbidden']);
    const { client: narrow } = await aKey(app, 'users:write');
    expect(problemOf(await generate(uuid, {}, narrow))).toEqual([403, 'insufficient_scope']);
    const { user: blocked } = await aPerson(app);
    await app.key.put(`/users/${blocked.uuid}`, { status: 'Blocked' });
    expect((await generate(blocked.uuid, {}, narrow)).status).toBe(200);
    expect(refusalOf(await generate(blocked.uuid, { must_change: 'yes' }))).toEqual([
      422,
      'must_change invalid_type',
    ]);
  });
});
