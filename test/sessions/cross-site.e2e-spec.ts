import { beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, BASE_URL, TestApp, setUpApp } from '../support/app/app.js';
import { type Person, aPerson, databaseOf, problemOf } from '../support/app/people.js';

const app = setUpApp();
let person: Person;
beforeAll(async () => void (person = await aPerson(app)));

type Headers = Record<string, string>;
let written = 0;
const change = async (headers: Headers) => {
  const about_me = `text ${++written}`;
  const answer = await person.client.put(`/users/${person.user.uuid}`, { about_me }, headers);
  const now = await person.client.get('/users/me');
  return { problem: problemOf(answer), changed: now.body.about_me === about_me };
};

/** Requests from other sites. More origins are tested in `unit/same-site`. */
const FOREIGN: [string, Headers][] = [
  ['another site', { origin: 'https://evil.example' }],
  ['the listening address instead of BASE_URL', { origin: 'http://127.0.0.1' }],
  ['the host of a forged Host header', { origin: 'http://evil.example', host: 'evil.example' }],
  ['a page without an origin', { origin: 'null' }],
  ['an invalid origin', { origin: 'nonsense' }],
  ['another site according to Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ['another site with a forged Origin', { origin: BASE_URL, 'sec-fetch-site': 'cross-site' }],
];

describe('a change with a session cookie', () => {
  test.each(FOREIGN)('from %s returns 403', async (_, headers) => {
    expect(await change(headers)).toEqual({ problem: [403, 'cross_site'], changed: false });
  });

  test('is allowed from BASE_URL or without Origin', async () => {
    const good: Headers[] = [
      {},
      { origin: BASE_URL },
      { origin: BASE_URL, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of good)
      expect(await change(headers)).toEqual({ problem: [200, undefined], changed: true });
  });
});

test.each(FOREIGN)('reading with a session cookie is allowed from %s', async (_, headers) => {
  expect((await person.client.get('/users/me', headers)).status).toBe(200);
});

test.each(FOREIGN)('a change with an API key is allowed from %s', async (_, headers) => {
  const { status } = await app.key.put(`/users/${person.user.uuid}`, { known_as: 'Kim' }, headers);
  expect(status).toBe(200);
});

test('a login from another site returns 403 and creates no session', async () => {
  const countSessions = async () => (await databaseOf(app).query('SELECT id FROM sessions')).length;
  const before = await countSessions();
  const login = { username: 'admin', password: ADMIN_PASSWORD };
  const answer = await person.client.post('/sessions/login', login, { 'sec-fetch-site': 'cross-site' });
  expect(problemOf(answer)).toEqual([403, 'cross_site']);
  expect([answer.cookie, await countSessions()]).toEqual(['', before]);
});

test('a cross-site request with an unknown session returns 401', async () => {
  const headers = { cookie: 'rollcall_session=unknown', origin: 'https://evil.example' };
  const answer = await app.guest.put(`/users/${person.user.uuid}`, { known_as: 'Kim' }, headers);
  expect(problemOf(answer)).toEqual([401, 'unauthenticated']);
});

// This test is the last one, because each application replaces the global strategies of Passport.
test('with HOST=0.0.0.0, a session works at every address of the service', async () => {
  const other = await TestApp.start({ HOST: '0.0.0.0', BASE_URL: '', TRUST_PROXY: 'loopback' });
  const { client, user } = await aPerson(other);
  const save = async (headers: Headers) =>
    problemOf(await client.put(`/users/${user.uuid}`, { known_as: 'Kim' }, headers));
  const proxied = { 'x-forwarded-host': 'people.example.org', 'x-forwarded-proto': 'https' };
  for (const headers of [
    { host: '192.0.2.7:3000', origin: 'http://192.0.2.7:3000' },
    { host: '10.0.0.1', origin: 'https://people.example.org', ...proxied },
  ])
    expect(await save(headers)).toEqual([200, undefined]);
  expect(await save({ host: '192.0.2.7', origin: 'http://evil.example' })).toEqual([403, 'cross_site']);
  await other.end();
});
