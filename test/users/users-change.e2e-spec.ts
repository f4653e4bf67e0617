import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { create, aUser } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';
import { problemOf } from '../support/app/people.js';

const app = setUpApp();
let manager: Json;
beforeAll(async () => void (manager = await create(app.key)));

let count = 0;
const PASSWORD = 'a long password';
/** Creates a user with every field set. */
const createFull = (overrides: Record<string, unknown> = {}) =>
  create(app.key, {
    external_id: `HR-${++count}`,
    roles: ['Editor', 'Organisational user'],
    phone: '1',
    mobile: '2',
    firstname: 'F',
    middle_name: 'M',
    surname: 'S',
    known_as: 'K',
    authname: { saml: [`a${count}`, `b${count}`], ldap: [`c${count}`] },
    password: PASSWORD,
    user_avatar: 'https://example.org/a.png',
    manager_uuid: manager.uuid,
    about_me: 'one\ntwo',
    social_media: { linkedin: 'https://example.org/in' },
    hide_email: true,
    hide_phone_numbers: true,
    ...overrides,
  });
const read = async (uuid: string): Promise<Json> => (await app.key.get(`/users/${uuid}`)).body;

test('a PUT changes only the fields of the body', async () => {
  const before = await createFull();
  const answer = await app.key.put(`/users/${before.uuid}`, { surname: 'Doe' });
  expect([answer.status, answer.body]).toEqual([
    200,
    { ...before, surname: 'Doe', updated: answer.body.updated },
  ]);
  expect(answer.body.updated > before.updated).toBe(true);
  expect(await read(before.uuid)).toEqual(answer.body);
});

describe('a PUT with an empty value', () => {
  const CLEARED = {
    external_id: '',
    phone: '',
    mobile: '',
    firstname: '',
    middle_name: '',
    surname: '',
    known_as: '',
    about_me: '',
    manager_uuid: null,
    authname: {},
    social_media: {},
    roles: ['Organisational user'],
    hide_email: false,
    hide_phone_numbers: false,
  };
  test.each<[string, object]>([
    ['null', Object.fromEntries(Object.keys(CLEARED).map((field) => [field, null]))],
    ['empty text and lists', { ...CLEARED, manager_uuid: '', roles: [], surname: '  ' }],
  ])('clears every optional field: %s', async (_, values) => {
    const before = await createFull();
    const { status, body } = await app.key.put(`/users/${before.uuid}`, values);
    expect([status, body]).toEqual([200, { ...before, ...CLEARED, updated: body.updated }]);
  });

  test.each(['', null])('restores the default avatar: %j', async (value) => {
    const standard = (await create(app.key)).user_avatar;
    const { uuid } = await createFull();
    expect((await app.key.put(`/users/${uuid}`, { user_avatar: value })).body.user_avatar).toBe(standard);
  });

  test.each(['', null])('removes the password: %j', async (value) => {
    const { uuid, username } = await createFull();
    await app.login(username, PASSWORD);
    expect((await app.key.put(`/users/${uuid}`, { password: value })).status).toBe(200);
    const login = await app.guest.post('/sessions/login', { username, password: PASSWORD });
    expect(refusalOf(login)).toEqual([401, 'login_failed']);
  });

  test('frees the external_id for other users', async () => {
    const [first, second] = [await createFull(), await createFull()];
    for (const { uuid } of [first, second]) {
      expect((await app.key.put(`/users/${uuid}`, { external_id: '' })).status).toBe(200);
    }
    const taken = await app.key.put(`/users/${second.uuid}`, { external_id: first.external_id });
    expect(taken.body.external_id).toBe(first.external_id);
  });
});

describe('an unchanged PUT', () => {
  const readers: [string, (user: Json) => Promise<Client> | Client][] = [
    ['an API key', () => app.key],
    ['a Webmaster', () => app.login()],
    ['the user', (user: Json) => app.login(user.username, PASSWORD)],
  ];
  test.each(readers)('by %s after a GET changes nothing', async (_, reader) => {
    const { uuid, username } = await createFull();
    const client = await reader({ username });
    const before = await client.get(`/users/${uuid}`);
    const rows = await readAuditRows(app, uuid);

    const answer = await client.put(`/users/${uuid}`, before.body);
    expect([answer.status, answer.body]).toEqual([200, before.body]);
    expect(answer.headers['etag']).toBe(before.headers['etag']);
    expect(await readAuditRows(app, uuid)).toEqual(rows);
    expect((await client.get(`/users/${uuid}`)).body).toEqual(before.body);
  });

  test('of a user without optional fields changes nothing', async () => {
    const before = await create(app.key);
    expect((await app.key.put(`/users/${before.uuid}`, before)).body).toEqual(before);
    expect(await readAuditRows(app, before.uuid)).toHaveLength(1);
  });

  test('ignores differences in letter case, order and spaces', async () => {
    const before = await createFull();
    const { uuid } = before;
    expect((await app.key.put(`/users/${uuid}`, {})).body).toEqual(before);
    const same = {
      username: ` ${before.username} `,
      roles: ['organisational USER', 'editor'],
      manager_uuid: manager.uuid.toUpperCase(),
      authname: { ldap: before.authname.ldap },
    };
    expect((await app.key.put(`/users/${uuid}`, same)).body).toEqual(before);
    expect(await readAuditRows(app, uuid)).toHaveLength(1);
  });
});

test('a PUT with invalid fields changes nothing and returns all errors', async () => {
  const before = await createFull();
  const rows = await readAuditRows(app, before.uuid);
  const bad = { phone: 5, nickname: 'N', roles: ['External user', 'Webmaster'] };
  const own = { manager_uuid: before.uuid, password: before.email };
  expect(refusalOf(await app.key.put(`/users/${before.uuid}`, { surname: 'Doe', ...bad, ...own }))).toEqual([
    422,
    'manager_uuid self_reference',
    'nickname unknown_field',
    'password invalid_value',
    'phone invalid_type',
    'roles exclusive_roles',
  ]);
  expect(await read(before.uuid)).toEqual(before);
  expect(await readAuditRows(app, before.uuid)).toEqual(rows);
});

test('a PUT ignores read-only fields', async () => {
  const before = await create(app.key);
  const sent = { created: '1999-01-01T00:00:00.000Z', updated: 5, last_access: { a: [] } };
  const uuid = before.uuid.toUpperCase() as string;
  expect((await app.key.put(`/users/${before.uuid}`, { ...sent, uuid })).body).toEqual(before);
});

test.each([
  ['UUID of another user', '00000000-0000-0000-0000-000000000000'],
  ['invalid UUID', 'x'],
  ['number', 5],
])('a PUT whose uuid differs from the path returns 422: %s', async (_, uuid) => {
  const before = await create(app.key);
  const answer = await app.key.put(`/users/${before.uuid}`, { uuid, surname: 'Doe' });
  expect(refusalOf(answer)).toEqual([422, 'uuid uuid_mismatch']);
  expect(await read(before.uuid)).toEqual(before);
});

/** `authname` and `social_media` are changed member by member. */
const put = async (user: Json, body: object): Promise<Json> =>
  (await app.key.put(`/users/${user.uuid}`, body)).body;

describe('authname in a PUT', () => {
  test('replaces only the names of the sent providers', async () => {
    const user = await create(app.key, { authname: { saml: ['name 1', 'name 2'], ldap: ['b'] } });
    const changed = { saml: ['name 3'], ldap: ['b'] };
    expect((await put(user, { authname: { saml: ['name 3'] } })).authname).toEqual(changed);
    const added = { authname: { kerberos: ['k'] } };
    expect((await put(user, added)).authname).toEqual({ ...changed, kerberos: ['k'] });
  });

  test('removes a provider whose list is empty', async () => {
    const user = await create(app.key, { authname: { saml: ['c'], ldap: ['d'] } });
    expect((await put(user, { authname: { saml: [] } })).authname).toEqual({ ldap: ['d'] });
    expect((await put(user, { authname: { saml: [] } })).authname).toEqual({ ldap: ['d'] });
    expect((await put(user, { authname: { ldap: [] } })).authname).toEqual({});
  });

  test('frees removed names for other users', async () => {
    await put(await create(app.key, { authname: { saml: ['e', 'f'] } }), { authname: { saml: ['f', 'g'] } });
    expect((await create(app.key, { authname: { saml: ['e'] } })).authname).toEqual({ saml: ['e'] });
    for (const name of ['f', 'g']) {
      const answer = await app.key.post('/users', aUser({ authname: { saml: [name] } }));
      expect(problemOf(answer)).toEqual([409, 'authname_taken']);
    }
  });

  test.each(['constructor', '__proto__', 'valueof', '0', '-', '_'])(
    'may contain a provider named %s',
    async (method) => {
      const authname = JSON.parse(`{"${method}": ["name"]}`) as object;
      const user = await create(app.key, { authname });
      expect(JSON.stringify(user.authname)).toBe(JSON.stringify(authname));
      const saml = [`x${method}`];
      expect(JSON.stringify((await put(user, { authname: { saml } })).authname)).toContain(`"${method}"`);
      const removed = JSON.parse(`{"${method}": []}`) as object;
      expect((await put(user, { authname: removed })).authname).toEqual({ saml });
    },
  );
});

describe('social_media in a PUT', () => {
  const [a, b, c] = ['https://example.org/a', 'http://intranet/b', 'https://example.org/c'];

  test('replaces only the sent networks', async () => {
    const user = await create(app.key, { social_media: { facebook: a, linkedin: b } });
    expect(user.social_media).toEqual({ facebook: a, linkedin: b, twitter: '' });
    const changed = { facebook: a, linkedin: c, twitter: '' };
    expect((await put(user, { social_media: { linkedin: c } })).social_media).toEqual(changed);
  });

  test('removes a network whose text is empty', async () => {
    const user = await create(app.key, { social_media: { facebook: a, twitter: b } });
    const left = { facebook: '', linkedin: '', twitter: b };
    expect((await put(user, { social_media: { facebook: '' } })).social_media).toEqual(left);
    expect((await put(user, { social_media: { twitter: '' } })).social_media).toEqual({});
  });
});

const UNKNOWN = '00000000-0000-0000-0000-000000000000';
const assign = (user: Json, manager: string | null) =>
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
  expect(refusalOf(await assign(user, UNKNOWN))).toEqual([422, 'manager_uuid unknown_reference']);
  const created = await app.key.post('/users', aUser({ manager_uuid: UNKNOWN }));
  expect(refusalOf(created)).toEqual([422, 'manager_uuid unknown_reference']);
});

test('users cannot be their own manager', async () => {
  const user = await create(app.key);
  expect(refusalOf(await assign(user, user.uuid))).toEqual([422, 'manager_uuid self_reference']);
  expect(refusalOf(await assign(user, user.uuid.toUpperCase()))).toEqual([
    422,
    'manager_uuid self_reference',
  ]);
});

test.each([2, 3, 30])('a chain of %d managers cannot be closed into a cycle', async (length) => {
  const users = await createChain(length);
  const top = users.at(-1);
  expect(refusalOf(await assign(top, users[0].uuid))).toEqual([422, 'manager_uuid cycle']);
  expect((await app.key.get(`/users/${top.uuid}`)).body).toEqual(top);
});

test('a user can become the manager of their former manager', async () => {
  const [lower, upper] = await createChain(2);
  expect((await assign(lower, null)).body.manager_uuid).toBeNull();
  expect((await assign(upper, lower.uuid)).body.manager_uuid).toBe(lower.uuid);
  expect(refusalOf(await assign(lower, upper.uuid))).toEqual([422, 'manager_uuid cycle']);
});

test('a user can get a new manager from the same hierarchy', async () => {
  const [one, two, manager] = await createChain(3);
  const other = await create(app.key, { manager_uuid: manager.uuid });
  expect((await assign(one, other.uuid)).status).toBe(200);
  expect((await assign(two, one.uuid)).body.manager_uuid).toBe(one.uuid);
});

test('updating a user keeps the manager even if the manager is blocked', async () => {
  const [user, manager] = await createChain(2);
  await app.key.put(`/users/${manager.uuid}`, { status: 'Blocked' });
  const answer = await app.key.put(`/users/${user.uuid}`, { ...user, surname: 'Doe' });
  expect([answer.status, answer.body.manager_uuid]).toEqual([200, manager.uuid]);
});
