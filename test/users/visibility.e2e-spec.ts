import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { databaseOf, problemOf } from '../support/app/people.js';
import { create } from '../support/data/factories.js';
import { findNames, search } from '../support/app/search.js';

const PASSWORD = 'a good password';
const FULL = {
  username: 'hidden',
  email: 'secret.address@hidden.example.org',
  external_id: 'HR-7',
  phone: '+44 1111',
  mobile: '+44 2222',
  firstname: 'Harriet',
  about_me: 'Hello',
  authname: { saml: ['harriet@idp'] },
  hide_email: true,
  hide_phone_numbers: true,
  password: PASSWORD,
};

const app = setUpApp();
let webmaster: Client, member: Client, self: Client;
let hidden: Json, shown: Json, blocked: Json, memberUser: Json;

beforeAll(async () => {
  hidden = await create(app.key, FULL);
  shown = await create(app.key, { username: 'shown', email: 'open@example.org', phone: '1', mobile: '2' });
  const gone = { username: 'blocked', email: 'blocked@example.org', surname: 'Gone', status: 'Blocked' };
  blocked = await create(app.key, gone);
  const colleague = { username: 'member', roles: ['Editor'], authname: { saml: ['me'] } };
  memberUser = await create(app.key, { ...colleague, password: PASSWORD });
  webmaster = await app.login();
  member = await app.login('member', PASSWORD);
  self = await app.login('hidden', PASSWORD);
});

/** Reads a user by UUID and by a search, and expects both to be equal. */
async function read(client: Client, { uuid, username }: Json): Promise<Json> {
  const one = await client.get(`/users/${uuid}`);
  expect(one.status).toBe(200);
  expect((await search(client, { username })).body).toEqual({ Count: 1, Results: [one.body] });
  return one.body;
}

/** Omits the fields that no member sees. */
const omitPrivate = (user: Json): Json =>
  Object.fromEntries(Object.entries(user).filter(([field]) => !PRIVATE.includes(field)));
const DATASET = ['managed_by', 'managed_part', 'blocked_by'];
const PRIVATE = ['authname', 'attributes', 'last_access', 'password_change_required', ...DATASET];

describe('hidden fields', () => {
  test('are empty for another member', async () => {
    const { body } = await app.key.get(`/users/${hidden.uuid}`);
    expect(await read(member, hidden)).toEqual({ ...omitPrivate(body), email: '', phone: '', mobile: '' });
  });

  test.each([
    ['hide_email', ['email']],
    ['hide_phone_numbers', ['phone', 'mobile']],
  ])('%s hides only %j', async (flag, fields) => {
    const contact = { email: `${flag}@example.org`, phone: '1', mobile: '2' };
    const user = await create(app.key, { ...contact, [flag]: true });
    const emptied = Object.fromEntries(fields.map((field) => [field, '']));
    expect(await read(member, user)).toEqual({ ...omitPrivate(user), ...emptied });
  });

  test('are visible to the user, Webmasters and API keys', async () => {
    const { email, phone, mobile } = FULL;
    for (const client of [self, webmaster, app.key])
      expect(await read(client, hidden)).toMatchObject({ email, phone, mobile });
    expect((await self.get('/users/me')).body).toMatchObject({ email, phone, mobile });
  });

  test('follow changes of hide_email and hide_phone_numbers at once', async () => {
    const user = await create(app.key, { email: 'flag.flip@example.org', mobile: '5' });
    for (const hide of [true, false]) {
      await app.key.put(`/users/${user.uuid}`, { hide_email: hide, hide_phone_numbers: hide });
      const visible = hide ? { email: '', mobile: '' } : { email: user.email, mobile: '5' };
      expect(await read(member, user)).toMatchObject(visible);
      for (const query of [{ email: user.email }, { fulltext_search: 'flag.flip' }])
        expect(await findNames(member, query)).toEqual(hide ? [] : [user.username]);
    }
  });
});

describe('a hidden email address or number', () => {
  test.each([
    { email: FULL.email },
    { email_domain: 'hidden.example.org' },
    { phone: '441111' },
    { phone: '2222' },
    { find: '@hidden.example.org' },
    { find: '+44 2222' },
    { find: FULL.email },
    { email: FULL.email.toUpperCase() },
    { fulltext_search: FULL.email },
    { fulltext_search: 'secret.address' },
    { fulltext_search: 'secret*' },
    { fulltext_search: 'harriet secret.address' },
  ])('is not found by a member with %j', async (query) => {
    expect(await findNames(app.key, query)).toEqual(['hidden']);
    expect(await findNames(member, query)).toEqual([]);
  });

  test('does not hide an equal surname from a search', async () => {
    const user = await create(app.key, { surname: 'Unseen', email: 'unseen@example.org', hide_email: true });
    expect(await findNames(member, { fulltext_search: 'unseen' })).toEqual([user.username]);
    expect(await findNames(member, { fulltext_search: 'unseen@example.org' })).toEqual([]);
  });

  test('can be found by the owner', async () => {
    for (const query of [{ email: FULL.email }, { email_domain: 'hidden.example.org' }, { phone: '1111' }])
      expect(await findNames(self, query)).toEqual(['hidden']);
  });

  test('does not change the result order for members', async () => {
    const term = 'ranked';
    const plain = await create(app.key, { external_id: 'ranked' });
    const hiddenEmail = { email: 'ranked@example.org', hide_email: true };
    const secret = await create(app.key, { external_id: 'ranked x', ...hiddenEmail });
    await databaseOf(app).execute('UPDATE users SET updated = created WHERE uuid = ?', [plain.uuid]);
    const readOrder = async (client: Client) =>
      (await search(client, { fulltext_search: term })).body.Results.map(({ uuid }: Json) => uuid);
    const before = await readOrder(member);
    expect(await readOrder(app.key)).toEqual([secret.uuid, plain.uuid]);
    await app.key.put(`/users/${secret.uuid}`, { email: 'other@example.org' });
    expect(await readOrder(member)).toEqual(before);
  });
});

describe('blocked users', () => {
  test.each([
    {},
    { status: 'Blocked' },
    { username: 'blocked' },
    { email: 'blocked@example.org' },
    { fulltext_search: 'gone' },
  ])('are not found by a member with %j', async (query) => {
    const answer = await search(member, { ...query, limit: 100 });
    expect(answer.status).toBe(200);
    expect(answer.body.Results.map(({ status }: Json) => status)).not.toContain('Blocked');
    expect(answer.body.Count).toBe(answer.body.Results.length);
  });

  test('are visible only to Webmasters and API keys', async () => {
    const unknown = await member.get('/users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10');
    expect(problemOf(await member.get(`/users/${blocked.uuid}`))).toEqual([404, 'not_found']);
    expect(unknown.status).toBe(404);
    for (const client of [webmaster, app.key]) expect(await read(client, blocked)).toEqual(blocked);
  });
});

describe('a member', () => {
  test('cannot see authname, even in their own profile', async () => {
    for (const client of [webmaster, app.key])
      expect(await read(client, hidden)).toMatchObject({ authname: FULL.authname });
    for (const user of [hidden, shown, memberUser])
      expect(await read(member, user)).not.toHaveProperty('authname');
    expect((await member.get('/users/me')).body).not.toHaveProperty('authname');
    expect((await search(member, 'limit=100')).text).not.toMatch(/authname|harriet@idp/);
  });

  test.each(['authname=saml:harriet@idp', 'authname=saml:nobody', 'managed_by=default', 'sort=email'])(
    'gets 403 for a search with %s',
    async (query) => {
      expect(problemOf(await search(member, query))).toEqual([403, 'forbidden']);
    },
  );
});

test('an External user is found by members in a search', async () => {
  await create(app.key, { username: 'external', roles: ['External user', 'Editor'] });
  expect(await findNames(member, { username: 'external' })).toEqual(['external']);
});

describe('last_access', () => {
  test('is visible only to the user, Webmasters and API keys', async () => {
    const before = Date.now();
    await app.login('hidden', PASSWORD);
    for (const client of [self, webmaster, app.key]) {
      const { last_access } = await read(client, hidden);
      expect(last_access).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(last_access)).toBeGreaterThanOrEqual(before - 60_000);
    }
    expect((await read(member, hidden)).last_access ?? null).toBeNull();
    expect((await read(app.key, shown)).last_access).toBeNull();
  });
});
