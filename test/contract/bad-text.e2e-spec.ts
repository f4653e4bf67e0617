import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';

const TEXTS: Record<string, (text: string) => unknown> = {
  ...Object.fromEntries(
    [
      'username',
      'external_id',
      'phone',
      'mobile',
      'firstname',
      'middle_name',
      'surname',
      'known_as',
      'about_me',
    ].map((field) => [field, (text: string) => text]),
  ),
  email: (text) => `${text}@example.org`,
  user_avatar: (text) => `http://example.org/${text}`,
  authname: (text) => ({ saml: [text] }),
  social_media: (text) => ({ twitter: `http://example.org/${text}` }),
  manager_uuid: (text) => text,
};
const BAD = [
  ['NUL', 'a\0b'],
  ['an escape', 'a\u001bb'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', '\udc00'],
] as const;
let app: TestApp;
let uuid: string;

beforeAll(async () => {
  app = await TestApp.start();
  uuid = (await create(app.key)).uuid;
});
afterAll(() => app.end());

describe.each(Object.keys(TEXTS))('%s', (field) => {
  test.each(BAD)('refuses %s', async (_, text) => {
    const { etag } = (await app.key.get(`/users/${uuid}`)).headers;
    const body = { [field]: TEXTS[field]?.(text) };
    const created = await app.key.post('/users', aUser(body));
    const changed = await app.key.put(`/users/${uuid}`, body);
    for (const { status, body: problem } of [created, changed]) {
      expect([status, problem.code]).toEqual([422, 'validation_failed']);
      expect(problem.errors[0].code).toBe('invalid_format');
      expect(problem.errors[0].field).toMatch(new RegExp(`^${field}`));
    }
    expect((await app.key.get(`/users/${uuid}`)).headers['etag']).toBe(etag);
  });
});

test.each([
  ['roles', { roles: ['Editor\0'] }],
  ['status', { status: 'Active\0' }],
  ['status', { status: '\ud800' }],
  ['roles', { roles: ['\ud800'] }],
  ['password', { password: 'long enough \ud800' }],
  ['authname', { authname: { 'sa\0ml': ['x'] } }],
  ['social_media', { social_media: { 'face\0book': 'http://example.org' } }],
])('%s in %j is refused as a field', async (field, body) => {
  const { status, body: problem } = await app.key.post('/users', aUser(body));
  expect([status, problem.code]).toEqual([422, 'validation_failed']);
  expect(problem.errors[0].field).toMatch(new RegExp(`^${field}`));
});

test.each(BAD)('a login with %s in its name or password is a failed one', async (_, text) => {
  const byName = await app.nobody.post('/sessions/login', {
    username: `admin${text}`,
    password: 'some good password',
  });
  const byPassword = await app.nobody.post('/sessions/login', {
    username: 'admin',
    password: `some ${text}`,
  });
  for (const { status } of [byName, byPassword]) expect([401, 422]).toContain(status);
});

test.each(['{"__proto__":["x"]}', '{"constructor":["x"]}', '{"saml":["x"],"__proto__":{"x":1}}'])(
  'authname %s neither pollutes nor breaks anything',
  async (authname) => {
    const { status } = await app.key.send('PUT', `/users/${uuid}`, `{"authname":${authname}}`);
    expect([200, 422]).toContain(status);
    const read = await app.key.get(`/users/${uuid}`);
    expect(read.status).toBe(200);
    const sent = JSON.parse(authname) as Record<string, unknown>;
    // What is answered with 200 must have been stored.
    if (status === 200) expect(Object.entries(read.body.authname)).toEqual(Object.entries(sent));
    await app.key.put(`/users/${uuid}`, { authname: null });
  },
);

test.each([
  '{"constructor":"x"}',
  '{"constructor":{"prototype":{}}}',
  '{"__proto__":1}',
  '[{"constructor":1}]',
  '[[[]]]',
])('no field accepts %s or breaks on it', async (value) => {
  for (const field of [...Object.keys(TEXTS), 'roles', 'status', 'password', 'hide_email', 'uuid']) {
    const { status, body } = await app.key.send('PUT', `/users/${uuid}`, `{"${field}":${value}}`);
    expect([field, status, body.code]).toEqual([field, 422, 'validation_failed']);
  }
  const login = await app.nobody.send('POST', '/sessions/login', `{"username":${value},"password":${value}}`);
  expect([login.status, login.body.code]).toEqual([422, 'validation_failed']);
});

test.each([[1], [true], [{}], [[]], [['x']], [{ length: 3 }], [1e308], [-0]])(
  'no field accepts %j as text',
  async (value) => {
    for (const field of [
      'username',
      'email',
      'firstname',
      'about_me',
      'password',
      'user_avatar',
      'manager_uuid',
      'status',
    ]) {
      const { status, body } = await app.key.put(`/users/${uuid}`, { [field]: value });
      expect([field, status, body.errors]).toEqual([
        field,
        422,
        [expect.objectContaining({ field, code: 'invalid_type' })],
      ]);
    }
  },
);
