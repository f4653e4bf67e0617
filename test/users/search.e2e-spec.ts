import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { UNKNOWN } from '../support/data/factories.js';
import { createMany, nextOf, search, walkByLink } from '../support/app/search.js';

/** Pages of a search, and its parameters. Forged cursors are tested in unit/cursor. */
const app = setUpApp();
/** Number of active users, including the first Webmaster. */
const USERS = 121;

beforeAll(async () => {
  await createMany(
    app.key,
    Array.from({ length: USERS - 1 }, (_, index) => ({ username: `user ${String(index).padStart(3, '0')}` })),
  );
});

describe('a search response', () => {
  test.each([
    ['', 25],
    ['limit=1', 1],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=99999999999999999999', 100],
    ['offset=0', 25],
    ['offset=120', 1],
    ['offset=121', 0],
    ['offset=99999999999999999999', 0],
    ['offset=100&limit=100', 21],
  ])('to the query "%s" contains %d users', async (query, results) => {
    const answer = await search(app.key, query);
    expect(answer).toMatchObject({ status: 200, body: { Count: USERS } });
    expect(answer.body.Results).toHaveLength(results);
  });

  test('has only the properties Count and Results', async () => {
    const answer = await search(app.key, 'username=user%20000');
    expect(Object.keys(answer.body).sort()).toEqual(['Count', 'Results']);
    const [user] = answer.body.Results;
    expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
  });

  test('without matches is empty and has no Link', async () => {
    const answer = await search(app.key, 'username=nobody');
    expect([answer.status, answer.body]).toEqual([200, { Count: 0, Results: [] }]);
    expect(answer.headers['link']).toBeUndefined();
  });
});

describe('the next-page Link', () => {
  test('is sent with every page except the last', async () => {
    const page = async (offset: number) => search(app.key, { status: 'Active', limit: 100, offset });
    expect(nextOf(await page(0))).toBeDefined();
    expect(nextOf(await page(USERS - 101))).toBeDefined();
    expect(nextOf(await page(USERS - 100))).toBeUndefined();
    expect(nextOf(await page(USERS))).toBeUndefined();
  });

  test('retains all other parameters', async () => {
    const first = await search(
      app.key,
      'offset=5&limit=10&sort=username&order=asc&role=Webmaster&role=organisational+user',
    );
    const next = nextOf(first) ?? '';
    const query = new URLSearchParams(next.split('?')[1]);
    expect(query.getAll('role')).toEqual(['Webmaster', 'organisational user']);
    expect(Object.fromEntries(query)).toMatchObject({ limit: '10', sort: 'username', order: 'asc' });
    const names = (await app.key.get(next)).body.Results.map((user: { username: string }) => user.username);
    expect([names[0], names.length]).toEqual(['user 014', 10]);
  });

  test('retains a question mark in the search term', async () => {
    const first = await search(app.key, 'fulltext_search=user?&limit=2&order=asc');
    expect(first.body.Results).toHaveLength(2);
    const query = new URLSearchParams((nextOf(first) ?? '').split('/search?')[1]);
    expect(query.get('fulltext_search')).toBe('user?');
    expect([query.get('limit'), query.get('order')]).toEqual(['2', 'asc']);
  });

  test('continues after 100 users if the requested limit is higher', async () => {
    const page = await search(app.key, 'limit=5000&status=Active');
    expect((await app.key.get(nextOf(page) ?? '')).body.Results).toHaveLength(USERS - 100);
  });

  test.each(['sort=surname&order=asc', 'sort=username&order=desc', 'order=asc'])(
    'cannot be used with another sort order: %s',
    async (other) => {
      const page = await search(app.key, 'sort=username&order=asc&limit=1');
      const after = new URLSearchParams((nextOf(page) ?? '').split('?')[1]).get('after') ?? '';
      const answer = await search(app.key, `${other}&after=${after}`);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
      expect(answer.body.detail).toContain('after');
    },
  );

  test('cannot be combined with offset', async () => {
    const answer = await app.key.get(`${nextOf(await search(app.key, 'limit=1')) ?? ''}&offset=1`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toMatch(/offset.*after/);
  });
});

describe('an invalid search parameter', () => {
  const BAD: Record<string, string[]> = {
    offset: ['-1', 'x', '1.5', '1e2', '0x1', '1&offset=2'],
    limit: ['0', '-1', 'ten', '2.0', '%2B5', '00', '1&limit=1'],
    sort: ['password_hash', 'Surname', 'uuid', 'updated&sort=updated'],
    order: ['up', 'ASC;', 'asc&order=desc'],
    fulltext_search: ['%20', 'a&fulltext_search=b'],
    external_id: ['%00', '1&external_id=2'],
    username: ['a%00', 'a&username=b'],
    email: ['%07', 'a@b.org&email=c@d.org'],
    email_domain: [],
    phone: ['123', '1-2-3', '1'.repeat(65)],
    find: [],
    status: ['Deleted', 'Active&status=', 'Active,Blocked'],
    role: ['King', 'Editor&role=King', 'Editor,Author'],
    authname: ['saml', 'saml:', ':x', 'SA%20ML:x', 'a:b&authname=a:c'],
    manager_uuid: ['1', '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e1g', `${UNKNOWN}&manager_uuid=${UNKNOWN}`],
    updated_since: ['yesterday', '1763600000', '2026-13-01', '2026-01-01&updated_since=2026-01-02'],
    created_since: ['2026-01-01T25:00:00Z', '2026-02-30', '01/02/2026'],
    managed_by: ['a&managed_by=b'],
    has_external_id: ['1', 'yes', 'true&has_external_id=true'],
    after: ['x', 'W10', 'bnVsbA', 'MQ&after=MQ'],
    statuss: ['Active'],
    Status: ['Active'],
    'status[]': ['Active'],
    'email[$ne]': ['x'],
    ['__proto__']: ['1'],
    _: ['1763600000'],
  };
  test.each(Object.entries(BAD))('is named in the error: %s', async (name, values) => {
    for (const value of ['', '%20', '%0a', '%00', 'a%00b', 'x'.repeat(3000), ...values]) {
      const answer = await search(app.key, `${name}=${value}`);
      expect([value, answer.status, answer.body.code]).toEqual([value, 400, 'invalid_parameter']);
      expect(answer.body.detail).toContain(name);
      expect(answer.body.Results).toBeUndefined();
    }
  });

  test('causes an error with the allowed sort values', async () => {
    const { body } = await search(app.key, 'sort=height');
    const names = ['firstname', 'surname', 'username', 'email', 'external_id', 'status'];
    for (const sort of [...names, 'updated', 'created', 'relevance']) expect(body.detail).toContain(sort);
  });

  test('is reported together with other invalid parameters', async () => {
    const { body } = await search(app.key, 'limit=0&sort=height&colour=red');
    for (const name of ['limit', 'sort', 'colour']) expect(body.detail).toContain(name);
  });
});

// Must be the last test because it adds a user.
test('a user created before the cursor changes no later page', async () => {
  const query = { sort: 'username', order: 'asc', limit: 40, fulltext_search: 'user' };
  const first = await search(app.key, { ...query });
  const [late = ''] = await createMany(app.key, [{ username: 'user 000a' }]);
  const next = new URLSearchParams((nextOf(first) ?? '').split('?')[1]);
  const rest = await walkByLink(app.key, Object.fromEntries(next));
  const uuids = [...first.body.Results, ...rest].map((user: { uuid: string }) => user.uuid);
  expect(uuids).toHaveLength(USERS - 1);
  expect([new Set(uuids).size, uuids.includes(late)]).toEqual([USERS - 1, false]);
});
