import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { refusal } from '../support/app/problems.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const PASSWORD = 'a long password';
const etagOf = async (uuid: string): Promise<string> =>
  (await app.key.get(`/users/${uuid}`)).headers['etag'] ?? '';
const path = ({ uuid }: Json): string => `/users/${uuid}`;

describe('reading', () => {
  test('a client that has the user already gets 304 without a body', async () => {
    const user = await create(app.key);
    const etag = await etagOf(user.uuid);
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await app.key.get(path(user), { 'if-none-match': tags });
      expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', etag]);
    }
    for (const tags of ['"other"', etag.slice(1, -1), '']) {
      const answer = await app.key.get(path(user), { 'if-none-match': tags });
      expect([answer.status, answer.body]).toEqual([200, user]);
    }
  });

  test('also for the own profile', async () => {
    const user = await create(app.key, { password: PASSWORD });
    const client = await app.login(user.username, PASSWORD);
    const me = await client.get('/users/me');
    expect((await client.get('/users/me', { 'if-none-match': me.headers['etag'] ?? '' })).status).toBe(304);
  });

  test('a change gives another tag, and an old one gets the new state', async () => {
    const user = await create(app.key);
    const before = await etagOf(user.uuid);
    const changed = await app.key.put(path(user), { surname: 'Doe' });
    expect(changed.headers['etag']).not.toBe(before);
    const read = await app.key.get(path(user), { 'if-none-match': before });
    expect([read.status, read.body.surname, read.headers['etag']]).toEqual([
      200,
      'Doe',
      changed.headers['etag'],
    ]);
  });

  test('readers who see more get another tag than those who see less', async () => {
    const user = await create(app.key, { hide_email: true });
    const reader = await create(app.key, { password: PASSWORD });
    const colleague = await app.login(reader.username, PASSWORD);
    const answer = await colleague.get(path(user), { 'if-none-match': await etagOf(user.uuid) });
    expect([answer.status, answer.body.email]).toEqual([200, '']);
  });

  test('a login shows in last_access and so in the tag', async () => {
    const user = await create(app.key, { password: PASSWORD });
    const before = await etagOf(user.uuid);
    await app.login(user.username, PASSWORD);
    const answer = await app.key.get(path(user), { 'if-none-match': before });
    expect([answer.status, typeof answer.body.last_access]).toEqual([200, 'string']);
  });
});

describe('If-Match', () => {
  test('allows a change with the tag that was read, with *, and with one matching tag of several', async () => {
    const user = await create(app.key);
    const put = async (tag: string, surname: string) =>
      (await app.key.put(path(user), { surname }, { 'if-match': tag })).status;
    expect(await put(await etagOf(user.uuid), 'a')).toBe(200);
    expect(await put('*', 'b')).toBe(200);
    expect(await put(`"x", ${await etagOf(user.uuid)}`, 'c')).toBe(200);
  });

  test('the tag of one change allows the next one', async () => {
    const user = await create(app.key);
    const first = await app.key.put(path(user), { surname: 'a' });
    const second = await app.key.put(
      path(user),
      { surname: 'b' },
      { 'if-match': first.headers['etag'] ?? '' },
    );
    expect(second.status).toBe(200);
  });

  test('refuses a change of a user that has changed meanwhile, and any tag from elsewhere', async () => {
    const user = await create(app.key);
    const stale = await etagOf(user.uuid);
    const { body } = await app.key.put(path(user), { surname: 'a' });
    for (const tag of [stale, '"x"', `W/${await etagOf(user.uuid)}`, 'x']) {
      const answer = await app.key.put(path(user), { surname: 'b' }, { 'if-match': tag });
      expect(refusal(answer)).toEqual([412, 'precondition_failed']);
    }
    expect((await app.key.get(path(user))).body).toEqual(body);
  });
});

test('validation comes before uniqueness and the version', async () => {
  const [user, other] = [await create(app.key), await create(app.key)];
  const unknown = '00000000-0000-0000-0000-000000000000';
  for (const [bad, expected] of [
    [{ manager_uuid: user.uuid }, 'manager_uuid self_reference'],
    [{ manager_uuid: unknown }, 'manager_uuid unknown_reference'],
    [{ roles: ['External user', 'Webmaster'] }, 'roles exclusive_roles'],
  ] as const) {
    const body = { ...bad, username: other.username };
    const answer = await app.key.put(path(user), body, { 'if-match': '"x"' });
    expect(refusal(answer)).toEqual([422, expected]);
  }
});

test.each(['/status', '/users/search', '/imports/template.csv'])(
  'GET %s has no ETag, and answers If-None-Match in full',
  async (path) => {
    const { status, text } = await app.key.get(path, { 'if-none-match': '*' });
    expect([status, text !== '']).toEqual([200, true]);
  },
);
