import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { createMany, nextOf, search, walkByLink } from '../support/app/search.js';

let app: TestApp;
/** Active ones, with the first Webmaster. */
const USERS = 121;

beforeAll(async () => {
  app = await TestApp.start();
  await createMany(
    app.key,
    Array.from({ length: USERS - 1 }, (_, index) => ({ username: `user ${String(index).padStart(3, '0')}` })),
  );
});
afterAll(() => app.end());

describe('Link: rel="next"', () => {
  test('is on every page except the last', async () => {
    const page = async (offset: number) => search(app.key, { status: 'Active', limit: 100, offset });
    expect(nextOf(await page(0))).toBeDefined();
    expect(nextOf(await page(USERS - 101))).toBeDefined();
    expect(nextOf(await page(USERS - 100))).toBeUndefined();
    expect(nextOf(await page(USERS))).toBeUndefined();
  });

  test('keeps every other parameter and continues from an offset', async () => {
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

  test('keeps parameters after a question mark', async () => {
    const first = await search(app.key, 'fulltext_search=user?&limit=2&order=asc');
    expect(first.body.Results).toHaveLength(2);
    const query = new URLSearchParams((nextOf(first) ?? '').split('/search?')[1]);
    expect(query.get('fulltext_search')).toBe('user?');
    expect([query.get('limit'), query.get('order')]).toEqual(['2', 'asc']);
  });

  test('a limit above 100 gives pages of 100', async () => {
    const page = await search(app.key, 'limit=5000&status=Active');
    expect((await app.key.get(nextOf(page) ?? '')).body.Results).toHaveLength(USERS - 100);
  });

  test('a user created before the current position neither repeats nor hides another', async () => {
    const query = { sort: 'username', order: 'asc', limit: 40, fulltext_search: 'user' };
    const first = await search(app.key, { ...query });
    const [late] = await createMany(app.key, [
      { username: 'user 000a', status: 'Blocked', roles: ['Editor'] },
    ]);
    const rest = await walkByLink(
      app.key,
      Object.fromEntries(new URLSearchParams((nextOf(first) ?? '').split('?')[1])),
    );
    const uuids = [...first.body.Results, ...rest].map((user: { uuid: string }) => user.uuid);
    expect([uuids.length, new Set(uuids).size, uuids.includes(late ?? '')]).toEqual([
      USERS - 1,
      USERS - 1,
      false,
    ]);
  });
});

describe('after', () => {
  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

  test.each(['sort=surname&order=asc', 'sort=username&order=desc', 'order=asc'])(
    'a cursor of another order is refused with %s',
    async (other) => {
      const page = await search(app.key, 'sort=username&order=asc&limit=1');
      const after = new URLSearchParams((nextOf(page) ?? '').split('?')[1]).get('after') ?? '';
      const answer = await search(app.key, `${other}&after=${after}`);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
      expect(answer.body.detail).toContain('after');
    },
  );

  test('a cursor and an offset exclude each other', async () => {
    const next = nextOf(await search(app.key, 'limit=1')) ?? '';
    const answer = await app.key.get(`${next}&offset=1`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toMatch(/offset.*after/);
  });

  const uuid = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
  test.each([
    ['NUL in its uuid', 'username', 0, 'a', '\0'.repeat(36)],
    ['NUL in its key', 'username', 0, '\0', uuid],
    ['a uuid of other letters', 'username', 0, 'a', 'é'.repeat(36)],
    ['an emoji as uuid', 'username', 0, 'a', '😀'.repeat(18)],
    ['a lone surrogate as key', 'username', 0, '\ud800', uuid],
    ['text for a time', 'updated', 0, 'not a time', uuid],
    ['an emoji for a time', 'updated', 0, '😀', uuid],
    ['a number for a time', 'updated', 0, 5, uuid],
    ['a number for a text', 'username', 0, 1e300, uuid],
    ['no key', 'username', 0, null, uuid],
    ['a segment that is not there', 'username', 1, 'a', uuid],
    ['a segment of text', 'firstname', '0', 'a', uuid],
    ['a list as key', 'username', 0, ['a'], uuid],
    ['an object as uuid', 'username', 0, 'a', {}],
    ['SQL as uuid', 'username', 0, "' OR 1=1 --", "' OR 1=1 --".padEnd(36)],
  ])('a forged cursor with %s does not break the search', async (_, sort, ...rest) => {
    for (const order of ['asc', 'desc']) {
      const answer = await search(app.key, { sort, order, after: cursor(sort, order, ...rest) });
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) expect(answer.body).toMatchObject({ code: 'invalid_parameter' });
    }
  });
});
