import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setUpApp, TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import {
  ENTERPRISE,
  ROLLCALL,
  aScimUser,
  provision,
  scimOf,
  errorOf,
  createScimClient,
} from '../support/app/scim.js';
import {
  type Operation,
  group,
  idOf,
  patch,
  post,
  remove,
  sendBulk as send,
  statusesOf,
} from '../support/app/scim-bulk.js';

/** Bulk: many operations in one request (RFC 7644, section 3.7). */
const app = setUpApp();
const scim = scimOf(app);

async function run(...operations: Operation[]): Promise<Json[]> {
  const { status, body, text } = await send(scim, operations);
  if (status !== 200) throw new Error(`bulk: ${status} ${text}`);
  return body.Operations as Json[];
}
const isFound = async (userName: Json): Promise<boolean> =>
  (await scim.find(`userName eq "${userName}"`)).body.totalResults === 1;

describe('Bulk responses', () => {
  test('list the results in the order of the operations', async () => {
    const { id, meta } = await provision(scim);
    const answers = await run(
      post('a'),
      { ...patch(id, 'title', 'T'), version: meta.version },
      { method: 'PUT', path: `/Users/${id}`, data: aScimUser() },
      { ...post('b'), data: { userName: '' } },
      remove(id),
    );
    expect(answers).toEqual([
      {
        method: 'POST',
        bulkId: 'a',
        location: expect.stringMatching(/^http.*\/scim\/v2\/Users\/[0-9a-f-]{36}$/),
        version: 'W/"1"',
        status: '201',
      },
      { method: 'PATCH', location: meta.location, version: 'W/"2"', status: '200' },
      { method: 'PUT', location: meta.location, version: 'W/"3"', status: '200' },
      {
        method: 'POST',
        bulkId: 'b',
        status: '400',
        response: expect.objectContaining({ status: '400', scimType: 'invalidValue' }),
      },
      { method: 'DELETE', location: meta.location, status: '204' },
    ]);
    expect((await scim.get(`/Users/${idOf(answers[0])}`)).status).toBe(200);
    expect((await scim.get(`/Users/${id}`)).status).toBe(404);
  });

  test('report each failed operation separately', async () => {
    const taken = await provision(scim);
    const answers = await run(
      post('a'),
      post('b', aScimUser({ userName: taken.userName })),
      { ...patch(taken.id, 'title', 'T'), version: 'W/"9"' },
      patch(randomUUID(), 'title', 'T'),
      patch('nobody', 'title', 'T'),
      { method: 'GET', path: `/Users/${taken.id}` },
      post('a'),
      group('g', taken.id),
      { ...group('h'), data: {} },
    );
    expect(statusesOf(answers)).toEqual(['201', '409', '412', '404', '404', '400', '400', '201', '400']);
    expect(answers[1].response).toMatchObject({
      scimType: 'uniqueness',
      detail: expect.stringContaining(taken.id),
    });
  });
});

describe('a bulkId', () => {
  test('can refer to a user who is created later', async () => {
    const answers = await run(
      { ...post('g', { displayName: randomUUID(), members: ['bulkId:worker'] }), path: '/Groups' },
      post('worker', aScimUser({ [ENTERPRISE]: { manager: 'bulkId:boss' } })),
      patch('bulkId:boss', 'title', 'Boss'),
      post('boss'),
    );
    expect(statusesOf(answers)).toEqual(['201', '201', '200', '201']);
    const [made, worker, , boss] = answers.map(idOf);
    expect((await scim.get(`/Users/${worker}`)).body[ENTERPRISE].manager.value).toBe(boss);
    expect((await scim.get(`/Users/${boss}`)).body.title).toBe('Boss');
    expect((await scim.get(`/Groups/${made}`)).body.members).toEqual([
      expect.objectContaining({ value: worker }),
    ]);
  });

  test.each([
    ['after the POST', (made: Operation, ...rest: Operation[]) => [made, ...rest]],
    ['before the POST', (made: Operation, ...rest: Operation[]) => [...rest, made]],
  ])('works in the path of an operation %s', async (_, inOrder) => {
    const user = aScimUser();
    const answers = await run(
      ...inOrder(
        post('made', user),
        { ...patch('bulkId:made', 'title', 'Once') },
        { method: 'PUT', path: '/Users/bulkId:made', data: { ...user, title: 'Twice' } },
      ),
    );
    expect(statusesOf(answers).sort()).toEqual(['200', '200', '201']);
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect((await scim.get(`/Users/${idOf(answers[0])}`)).body.title).toBe('Twice');
    const gone = await run(post('short'), remove('bulkId:short'), remove('bulkId:short'));
    expect(statusesOf(gone)).toEqual(['201', '204', '404']);
  });

  test('of a failed or unknown operation makes dependent operations fail', async () => {
    const taken = await provision(scim);
    const [below, last] = [aScimUser(), aScimUser()];
    below[ENTERPRISE] = { manager: 'bulkId:bad' };
    last['emails'] = [...(last['emails'] as Json[]), { value: 'bulkId:low', type: 'other' }];
    const answers = await run(
      post('bad', aScimUser({ userName: taken.userName })),
      post('low', below),
      post('last', last),
      group('g', 'bulkId:bad'),
      group('h', 'bulkId:h'),
      remove('bulkId:bad'),
    );
    expect(statusesOf(answers)).toEqual(['409', '400', '400', '400', '400', '400']);
    expect(answers.slice(1).map(({ response }) => response.scimType)).toEqual(Array(5).fill('invalidValue'));
    expect(await isFound(below['userName'])).toBe(false);
    expect(await isFound(last['userName'])).toBe(false);
  });
});

describe('a Bulk of user operations', () => {
  test('can swap the usernames of two users', async () => {
    const [one, two] = [await provision(scim), await provision(scim)];
    const answers = await run(
      patch(one.id, 'userName', two.userName),
      patch(two.id, 'userName', one.userName),
    );
    expect(statusesOf(answers)).toEqual(['200', '200']);
    expect((await scim.get(`/Users/${one.id}`)).body.userName).toBe(two.userName);
  });

  test('applies operations on one user in order', async () => {
    const { id } = await provision(scim);
    const answers = await run(
      { ...patch(id, 'title', 'A'), version: 'W/"1"' },
      { ...patch(id, 'title', 'B'), version: 'W/"2"' },
      { ...patch(id, 'title', 'C'), version: 'W/"2"' },
      remove(id.toUpperCase()),
      remove(id),
    );
    expect(statusesOf(answers)).toEqual(['200', '200', '412', '204', '404']);
  });

  test('creates only one user per userName or email', async () => {
    const [{ userName }, { emails }] = [aScimUser(), aScimUser()];
    const same = Array.from({ length: 20 }, (_, index) => post(`a${index}`, aScimUser({ userName })));
    const answers = await run(...same, post('b', aScimUser({ emails })), post('c', aScimUser({ emails })));
    expect(statusesOf(answers)).toEqual(['201', ...Array<string>(19).fill('409'), '201', '409']);
    expect(answers[1].response.scimType).toBe('uniqueness');
  });

  test.each<[string, (name: string) => Json[], string[]]>([
    [
      'the first operation wins for a userName that is also an email',
      (name) => [{ userName: `${name}@x.org` }, { emails: [{ value: `${name}@x.org` }] }],
      ['201', '409'],
    ],
    [
      'the first operation wins for one of several authnames',
      (name) =>
        [[name, 'x'], [name], ['x']].map((names) => ({
          [ROLLCALL]: { authname: names.map((value) => ({ method: name, value })) },
        })),
      ['201', '409', '409'],
    ],
    [
      'the externalId of a failed operation stays free',
      (name) => [{ userName: name }, { userName: name, externalId: name }, { externalId: name }],
      ['201', '409', '201'],
    ],
    [
      'externalIds that differ in case do not conflict',
      (name) => [name, name, `${name}X`, `${name}x`].map((externalId) => ({ externalId })),
      ['201', '409', '201', '201'],
    ],
  ])('resolves conflicts between its operations: %s', async (_, build, statuses) => {
    const users = build(`n${randomUUID().slice(0, 8)}`);
    expect(statusesOf(await run(...users.map((user, n) => post(`${n}`, aScimUser(user)))))).toEqual(statuses);
  });
});

test.each([
  [1, ['201', '400']],
  [2, ['201', '400', '201', '409']],
  [3, ['201', '400', '201', '409', '201']],
])('a Bulk with failOnErrors %i stops after that number of errors', async (failOnErrors, wanted) => {
  const taken = await provision(scim);
  const users = [aScimUser(), aScimUser(), aScimUser()];
  const [first, second, third] = users;
  const answers = await send(
    scim,
    [
      post('a', first),
      post('b', { userName: '' }),
      post('c', second),
      post('d', aScimUser({ userName: taken.userName })),
      post('e', third),
    ],
    { failOnErrors },
  );
  expect(statusesOf(answers.body.Operations)).toEqual(wanted);
  const made = await Promise.all(users.map(({ userName }) => isFound(userName)));
  expect(made).toEqual([0, 2, 4].map((index) => index < wanted.length));
});

const BAD = post('bad', { userName: '' });
const below = (bulkId: string, boss: string) =>
  post(bulkId, aScimUser({ [ENTERPRISE]: { manager: { value: `bulkId:${boss}` } } }));
test.each<[string, number, () => Operation[], string[]]>([
  ['a chain of users', 1, () => [below('a', 'b'), below('b', 'c'), BAD, post('c')], ['400']],
  ['a group', 1, () => [group('g', 'bulkId:late'), post('a'), BAD, post('late')], ['400']],
  ['a failed user', 1, () => [group('g', 'bulkId:bad'), post('a'), BAD], ['400']],
  ['not below the limit of errors', 2, () => [group('g', 'bulkId:a'), BAD, post('a')], ['201', '400', '201']],
  [
    'a group after another error',
    2,
    () => [post('a'), BAD, group('g', 'bulkId:b'), post('c'), { ...BAD, bulkId: 'd' }, post('b')],
    ['201', '400', '400'],
  ],
])('failOnErrors rejects references to skipped operations: %s', async (_, failOnErrors, build, statuses) => {
  const operations = build();
  const { body } = await send(scim, operations, { failOnErrors });
  expect(statusesOf(body.Operations)).toEqual(statuses);
  for (const [index, { path, data }] of operations.entries()) {
    const name = path === '/Users' ? 'userName' : 'displayName';
    const found = await scim.get(`${path}?filter=${encodeURIComponent(`${name} eq "${data[name]}"`)}`);
    expect([index, found.body.totalResults]).toEqual([index, statuses[index] === '201' ? 1 : 0]);
  }
});

test('an invalid or oversized Bulk creates no user', async () => {
  const user = aScimUser();
  const cases: [object, number][] = [
    [{ Operations: {} }, 400],
    [{ Operations: Array.from({ length: 1001 }, () => post('a', user)) }, 413],
    [{ Operations: [post('a', user)], padding: 'x'.repeat(4 * 1024 * 1024) }, 413],
  ];
  for (const [body, status] of cases) expect((await scim.post('/Bulk', body)).status).toBe(status);
  expect(await isFound(user['userName'])).toBe(false);
});

describe('a Bulk request', () => {
  test('permits only operations within the scopes of the key', async () => {
    const key = await createScimClient(app, { scopes: ['users:write'] });
    const { body } = await send(key, [post('a'), group('g'), post('b')]);
    expect(statusesOf(body.Operations)).toEqual(['201', '403', '201']);
  });

  test('with an entra key returns 204 for a PATCH', async () => {
    const { id } = await provision(scim);
    const { body } = await send(await createScimClient(app, { profile: 'entra' }), [patch(id, 'title', 'T')]);
    expect(statusesOf(body.Operations)).toEqual(['204']);
  });
});

describe('a Bulk request with an Idempotency-Key', () => {
  test('takes effect only once', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const operations = [post('a'), post('b', { userName: '' }), group('g', 'bulkId:a')];
    const first = await send(scim, operations, {}, headers);
    const second = await send(scim, operations, {}, headers);
    expect(first.body.detail).toBeUndefined();
    expect(statusesOf(first.body.Operations)).toEqual(['201', '400', '201']);
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await send(scim, [post('c')], {}, headers)).status).toBe(422);
  });

  test('creates each resource once if sent concurrently', async () => {
    const operations = Array.from({ length: 60 }, (_, index) => post(`u${index}`));
    operations.push(group('g', 'bulkId:u0'), ...Array.from({ length: 20 }, (_, index) => post(`v${index}`)));
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all([0, 1, 2].map(() => send(scim, operations, {}, headers)));
    for (const { status, body } of answers) {
      expect([status, body.detail]).toEqual([200, undefined]);
      expect(body).toEqual(answers[0]?.body);
    }
    expect(new Set(statusesOf(answers[0]?.body.Operations))).toEqual(new Set(['201']));
  });
});

test.each([
  ['blocks', 'patch'],
  ['deletes', 'delete'],
])('a key with a blown fuse gets 429 if it %s a user', async (_, how) => {
  const fused = await TestApp.startOn(app.database, { FUSE_MIN: '2', FUSE_PERCENT: '0' });
  try {
    const provider = await createScimClient(fused, { scopes: ['users:read', 'users:write'] });
    const users: Json[] = [];
    for (let made = 0; made < 4; made++) users.push(await provision(provider));
    const buildEnd = ({ id }: Json) => (how === 'delete' ? remove(id) : patch(id, 'active', false));
    const operations = users.flatMap((user, index) => [buildEnd(user), post(`p${index}`)]);
    const { body } = await send(provider, operations);
    const done = how === 'delete' ? '204' : '200';
    expect(statusesOf(body.Operations)).toEqual([done, '201', done, '201', '429', '201', '429', '201']);
    const path = `/Users/${users[2].id}`;
    const alone = await (how === 'delete'
      ? provider.delete(path)
      : provider.patch(path, { op: 'replace', path: 'active', value: false }));
    expect(errorOf(alone).slice(0, 2)).toEqual([429, undefined]);
    expect(Number(alone.headers['retry-after'])).toBeGreaterThan(0);
    expect((await provider.get(path)).body.active).toBe(true);
  } finally {
    await fused.stop();
  }
});
