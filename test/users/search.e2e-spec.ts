import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { createMany, search } from '../support/app/search.js';

let app: TestApp;
/** With the first Webmaster there are 121 users. */
const USERS = 121;

beforeAll(async () => {
  app = await TestApp.start();
  await createMany(
    app.key,
    Array.from({ length: USERS - 1 }, (_, index) => ({ username: `user ${String(index).padStart(3, '0')}` })),
  );
});
afterAll(() => app.end());

describe('offset and limit', () => {
  test.each([
    ['', 25],
    ['limit=1', 1],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=1000000', 100],
    ['limit=99999999999999999999', 100],
    ['offset=0', 25],
    ['offset=120', 1],
    ['offset=121', 0],
    ['offset=999999999999', 0],
    ['offset=99999999999999999999', 0],
    ['offset=100&limit=100', 21],
  ])('?%s answers the true Count and the right number of users', async (query, results) => {
    const answer = await search(app.key, query);
    expect([answer.status, answer.body?.Count, answer.body?.Results?.length]).toEqual([200, USERS, results]);
  });

  test('a page begins at its offset', async () => {
    const page = await search(app.key, 'sort=username&order=asc&offset=11&limit=2');
    expect(page.body.Results.map((user: { username: string }) => user.username)).toEqual([
      'user 010',
      'user 011',
    ]);
  });

  test('the envelope has Count and Results and nothing else', async () => {
    const answer = await search(app.key, 'username=user%20000');
    expect(Object.keys(answer.body).sort()).toEqual(['Count', 'Results']);
    const [user] = answer.body.Results;
    expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
  });

  test('nothing found is an empty list', async () => {
    const answer = await search(app.key, 'username=nobody');
    expect([answer.status, answer.body]).toEqual([200, { Count: 0, Results: [] }]);
    expect(answer.headers['link']).toBeUndefined();
  });
});

describe('bad parameters', () => {
  test.each([
    [
      'offset',
      ['offset=-1', 'offset=x', 'offset=', 'offset=1.5', 'offset=1e2', 'offset=0x1', 'offset=1&offset=2'],
    ],
    [
      'limit',
      [
        'limit=0',
        'limit=-1',
        'limit=ten',
        'limit=',
        'limit=2.0',
        'limit=%2B5',
        'limit=1&limit=1',
        'limit=00',
      ],
    ],
    ['sort', ['sort=', 'sort=password_hash', 'sort=Surname', 'sort=uuid', 'sort=updated&sort=updated']],
    ['order', ['order=', 'order=up', 'order=ASC;', 'order=asc&order=desc']],
    ['fulltext_search', ['fulltext_search=', 'fulltext_search=%20', 'fulltext_search=a&fulltext_search=b']],
    ['external_id', ['external_id=', 'external_id=1&external_id=2', 'external_id=%00']],
    ['username', ['username=', 'username=a&username=b', 'username=a%00']],
    ['email', ['email=', 'email=a@b.org&email=c@d.org', 'email=%07']],
    ['status', ['status=', 'status=Deleted', 'status=Active&status=', 'status=Active,Blocked']],
    ['role', ['role=', 'role=King', 'role=Editor&role=King', 'role=Editor,Author']],
    [
      'authname',
      [
        'authname=',
        'authname=saml',
        'authname=saml:',
        'authname=:x',
        'authname=SA%20ML:x',
        'authname=a:b&authname=a:c',
      ],
    ],
    [
      'manager_uuid',
      ['manager_uuid=', 'manager_uuid=1', 'manager_uuid=0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e1g'],
    ],
    [
      'updated_since',
      ['updated_since=', 'updated_since=yesterday', 'updated_since=1763600000', 'updated_since=2026-13-01'],
    ],
    [
      'created_since',
      [
        'created_since=',
        'created_since=2026-01-01T25:00:00Z',
        'created_since=2026-02-30',
        'created_since=01/02/2026',
      ],
    ],
    ['managed_by', ['managed_by=', 'managed_by=a&managed_by=b']],
    [
      'has_external_id',
      [
        'has_external_id=',
        'has_external_id=1',
        'has_external_id=yes',
        'has_external_id=true&has_external_id=true',
      ],
    ],
    ['after', ['after=', 'after=x', 'after=W10', 'after=bnVsbA', 'after=MQ&after=MQ']],
    ['statuss', ['statuss=Active']],
    ['Status', ['Status=Active']],
    ['status[]', ['status[]=Active']],
    ['email[$ne]', ['email[$ne]=x']],
    ['__proto__', ['__proto__=1']],
    ['_', ['_=1763600000']],
  ])('a bad or unknown %s is an invalid_parameter that is named', async (name, queries) => {
    for (const query of queries) {
      const answer = await search(app.key, query);
      expect([query, answer.status, answer.body.code]).toEqual([query, 400, 'invalid_parameter']);
      expect(answer.body.detail).toContain(name);
      expect(answer.body.Results).toBeUndefined();
    }
  });

  test('an unknown sort lists those that are allowed', async () => {
    const { body } = await search(app.key, 'sort=height');
    for (const sort of [
      'firstname',
      'surname',
      'updated',
      'relevance',
      'username',
      'email',
      'created',
      'external_id',
      'status',
    ]) {
      expect(body.detail).toContain(sort);
    }
  });

  test('every bad parameter of a request is named', async () => {
    const { body } = await search(app.key, 'limit=0&sort=height&colour=red');
    for (const name of ['limit', 'sort', 'colour']) expect(body.detail).toContain(name);
  });
});
