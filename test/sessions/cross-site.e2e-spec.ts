import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, BASE_URL, TestApp } from '../support/app/app.js';
import { type Person, aPerson, databaseOf, problemOf } from '../support/app/people.js';

let app: TestApp;
let person: Person;
beforeAll(async () => {
  app = await TestApp.start();
  person = await aPerson(app);
});
afterAll(() => app.end());

type Headers = Record<string, string>;
let written = 0;
const change = async (headers: Headers) => {
  const about_me = `text ${++written}`;
  const answer = await person.client.put(`/users/${person.user.uuid}`, { about_me }, headers);
  const now = await person.client.get('/users/me');
  return { problem: problemOf(answer), changed: now.body.about_me === about_me };
};

/** Other origins are tested in unit/same-site. */
const FOREIGN: [string, Headers][] = [
  ['another site', { origin: 'https://evil.example' }],
  ['the address at which the service listens, which is not BASE_URL', { origin: 'http://127.0.0.1' }],
  ['the host that the Host header claims', { origin: 'http://evil.example', host: 'evil.example' }],
  ['a page without an origin', { origin: 'null' }],
  ['an invalid address', { origin: 'nonsense' }],
  ['another site, according to Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ['another site that claims our origin', { origin: BASE_URL, 'sec-fetch-site': 'cross-site' }],
];

describe('a change with a cookie', () => {
  test.each(FOREIGN)('from %s is refused', async (_, headers) => {
    expect(await change(headers)).toEqual({ problem: [403, 'cross_site'], changed: false });
  });

  test('is allowed from our own pages and from clients other than browsers', async () => {
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

test.each(FOREIGN)('reading with a cookie from %s is allowed', async (_, headers) => {
  expect((await person.client.get('/users/me', headers)).status).toBe(200);
});

test.each(FOREIGN)('a key is not bound to a site: %s', async (_, headers) => {
  const { status } = await app.key.put(`/users/${person.user.uuid}`, { known_as: 'Kim' }, headers);
  expect(status).toBe(200);
});

test('another site cannot log anyone out', async () => {
  const { client } = await aPerson(app);
  const answer = await client.send('POST', '/sessions/logout', undefined, { origin: 'https://evil.example' });
  expect(problemOf(answer)).toEqual([403, 'cross_site']);
  expect((await client.get('/users/me')).status).toBe(200);
});

test('another site cannot replace a session with a login', async () => {
  const count = async () => (await databaseOf(app).query('SELECT id FROM sessions')).length;
  const before = await count();
  const login = { username: 'admin', password: ADMIN_PASSWORD };
  const answer = await person.client.post('/sessions/login', login, { 'sec-fetch-site': 'cross-site' });
  expect(problemOf(answer)).toEqual([403, 'cross_site']);
  expect([answer.cookie, await count()]).toEqual(['', before]);
});

test('without good credentials the site does not matter', async () => {
  const headers = { cookie: 'rollcall_session=unknown', origin: 'https://evil.example' };
  const answer = await app.nobody.put(`/users/${person.user.uuid}`, { known_as: 'Kim' }, headers);
  expect(problemOf(answer)).toEqual([401, 'unauthenticated']);
});
