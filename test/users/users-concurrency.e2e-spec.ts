import { beforeAll, expect, test } from '@jest/globals';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Answer, Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';

const app = setUpApp();
let second: TestApp;
beforeAll(async () => void (second = await app.startOther()));

const runMany = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
/** Clients of both instances in turn. */
const keyOf = (index: number): Client => (index % 2 ? second : app).key;
const statusesOf = (answers: Answer[]): number[] => answers.map(({ status }) => status).sort();
const read = async (uuid: string) => (await app.key.get(`/users/${uuid}`)).body;

test.each([
  ['username', 'racing name', 'RACING  name'],
  ['email', 'race@example.org', 'RACE@example.org'],
  ['external_id', 'HR-race', 'HR-race'],
  ['authname', { saml: ['race'] }, { ldap: ['x'], saml: ['race'] }],
] as [string, unknown, unknown][])(
  'concurrent POSTs with the same %s create only one user',
  async (field, value, spelling) => {
    const answers = await runMany(20, (index) => {
      const body = aUser({ [field]: index % 2 ? value : spelling });
      return (index % 4 < 2 ? app : second).key.post('/users', body);
    });
    expect(statusesOf(answers)).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    const uuid = answers.find(({ status }) => status === 201)?.body.uuid as string;
    for (const { body } of answers.filter(({ status }) => status === 409)) {
      expect(body.code).toBe(`${field}_taken`);
      expect(body.conflicts).toMatchObject([{ field, uuid }]);
    }
  },
);

test('concurrent POSTs cannot use one value as username and as email', async () => {
  const name = 'both@example.org';
  const answers = await runMany(10, (index) =>
    app.key.post('/users', aUser({ [index % 2 ? 'username' : 'email']: name })),
  );
  expect(statusesOf(answers)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
});

test('concurrent creations and changes on two instances are all stored', async () => {
  const COUNT = 20;
  const before = (await app.key.get('/users/search?limit=1')).body.Count as number;
  const users = await runMany(COUNT, () => create(app.key));
  const [created, changed] = await Promise.all([
    runMany(COUNT, (index) => keyOf(index + 1).post('/users', aUser({ firstname: 'New' }))),
    runMany(COUNT, (index) => keyOf(index).put(`/users/${users[index].uuid}`, { firstname: `F${index}` })),
  ]);
  expect(new Set(statusesOf([...created, ...changed]))).toEqual(new Set([200, 201]));
  expect(created.filter(({ status }) => status === 201)).toHaveLength(COUNT);
  for (const [index, { uuid }] of users.entries()) {
    expect((await read(uuid)).firstname).toBe(`F${index}`);
    const actions = (await readAuditRows(app, uuid)).map(({ action }) => action);
    expect(actions).toEqual(['user.created', 'user.updated']);
  }
  for (const { body } of created) expect((await read(body.uuid)).firstname).toBe('New');
  expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(before + 2 * COUNT);
});

test('concurrent changes of different fields of one user are all stored', async () => {
  const { uuid } = await create(app.key, { authname: { a0: ['x'] } });
  const names = ['phone', 'mobile', 'firstname', 'middle_name', 'surname', 'known_as', 'about_me'];
  const fields = Object.fromEntries(names.map((name, index) => [name, `${index}`]));
  const changes = [
    ...Object.entries(fields).map(([field, value]) => ({ [field]: value })),
    ...['a1', 'a2', 'a3'].map((method) => ({ authname: { [method]: ['x'] } })),
  ];
  const put = (body: object, index: number) => keyOf(index).put(`/users/${uuid}`, body);
  const answers = await Promise.all(changes.map(put));
  expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
  const user = await read(uuid);
  expect(user).toMatchObject(fields);
  expect(Object.keys(user.authname as object).sort()).toEqual(['a0', 'a1', 'a2', 'a3']);
  expect(await readAuditRows(app, uuid)).toHaveLength(11);
});

test('only one of 10 concurrent PUTs with the same If-Match succeeds', async () => {
  const { uuid } = await create(app.key);
  const etag = (await app.key.get(`/users/${uuid}`)).headers['etag'] ?? '';
  const answers = await runMany(10, (index) =>
    keyOf(index).put(`/users/${uuid}`, { surname: `S${index}` }, { 'if-match': etag }),
  );
  expect(statusesOf(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
  expect((await read(uuid)).surname).toBe(answers.find(({ status }) => status === 200)?.body.surname);
});

test('concurrent PUTs cannot swap the usernames of two users', async () => {
  const [a, b] = [await create(app.key), await create(app.key)];
  const answers = await Promise.all([
    app.key.put(`/users/${a.uuid}`, { username: b.username }),
    second.key.put(`/users/${b.uuid}`, { username: a.username }),
  ]);
  for (const answer of answers) expect(refusalOf(answer)).toEqual([409, 'username_taken']);
});

test('concurrent changes of managers never create a cycle', async () => {
  for (let round = 0; round < 5; round++) {
    const users = await runMany(3, () => create(app.key));
    const answers = await runMany(3, (index) => {
      const manager_uuid: unknown = users[(index + 1) % 3].uuid;
      return keyOf(index).put(`/users/${users[index].uuid}`, { manager_uuid });
    });
    const refusals = answers.map(refusalOf).filter(([status]) => status !== 200);
    expect(refusals).toEqual([[422, 'manager_uuid cycle']]);
    const after = await Promise.all(users.map(({ uuid }) => read(uuid)));
    expect(after.filter(({ manager_uuid }) => manager_uuid === null)).toHaveLength(1);
  }
});

test('two Webmasters who block each other concurrently leave one active Webmaster', async () => {
  const other = await create(app.key, { roles: ['Webmaster'], password: 'a long password' });
  const [one, two] = [await app.login(), await app.login(other.username, 'a long password')];
  const admin = (await one.get('/users/me')).body;
  const answers = await Promise.all([
    one.put(`/users/${other.uuid}`, { status: 'Blocked' }),
    second.key.put(`/users/${admin.uuid}`, { status: 'Blocked' }),
    two.put(`/users/${admin.uuid}`, { status: 'Blocked' }),
  ]);
  expect(answers.some(({ status }) => status >= 500)).toBe(false);
  const active = await app.key.get('/users/search?role=Webmaster&status=Active');
  expect(active.body.Count).toBe(1);
  const last = active.body.Results[0].uuid as string;
  const refused = await app.key.put(`/users/${last}`, { status: 'Blocked' });
  expect(refusalOf(refused)).toEqual([409, 'last_webmaster']);
});
