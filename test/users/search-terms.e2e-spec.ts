import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { createMany, found, nextOf, search } from '../support/app/search.js';

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
  await createMany(app.key, [
    { username: 'jane', firstname: 'Jane', surname: "O'Doe", known_as: 'users', email: 'jane@example.org' },
    { username: 'Compound.Login_name', firstname: 'Percy%', surname: 'Under_score', known_as: 'table' },
  ]);
});
afterAll(() => app.end());

const finds = async (term: string) => found(app.key, { fulltext_search: term, limit: 100 });

describe('hostile terms', () => {
  test.each([
    '%',
    '_',
    "'",
    '"',
    '\\',
    ';',
    '--',
    "' OR '1'='1",
    '; DROP TABLE users; --',
    'j_ne',
    'jan%',
    '%*',
    '_*',
  ])('%j works neither as a pattern nor as SQL', async (term) => {
    expect(await finds(term)).toEqual([]);
  });

  test.each(['...', '!?', '- -', '()', '😀', '👩‍👩‍👧 🎉', '¿', '\u200b', '\u00b4', '\u0301'])(
    '%j contains no word and finds nobody',
    async (term) => {
      expect((await search(app.key, { fulltext_search: term })).body).toEqual({ Count: 0, Results: [] });
    },
  );

  test.each(['*', '**', 'jane *', '* *'])('%j does not list everybody', async (term) => {
    const answer = await search(app.key, { fulltext_search: term });
    if (answer.status === 200) expect(answer.body.Count).toBe(0);
    else expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
  });

  test.each([
    ['percy%', 'Compound.Login_name'],
    ['"jane"', 'jane'],
    ['(jane)', 'jane'],
    ['jane,', 'jane'],
    ['jane😀', 'jane'],
    ['under_score', 'Compound.Login_name'],
  ])('punctuation around a word does not hide it: %j finds %s', async (term, username) => {
    expect(await finds(term)).toEqual([username]);
  });

  test.each([
    ['NUL', 'jane\0'],
    ['a control character', 'jane\x07'],
    ['256 characters', 'x'.repeat(256)],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('a term with %s is refused', async (_, term) => {
    const answer = await search(app.key, { fulltext_search: term });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain('fulltext_search');
  });

  test.each([
    'x'.repeat(255),
    `${'x'.repeat(254)}*`,
    'ﷺ'.repeat(200),
    'qq '.repeat(85),
    '\u{1d56b}'.repeat(127),
    '%E0%A4qq',
    '%ff',
  ])('a long or broken term does not break the search (%#)', async (term) => {
    const query = term.startsWith('%') ? `fulltext_search=${term}` : { fulltext_search: term };
    const answer = await search(app.key, query);
    expect([200, 400]).toContain(answer.status);
    expect(answer.body.Count ?? 0).toBe(0);
  });

  test('the longest words are found whole', async () => {
    const long = {
      username: 'b'.repeat(254),
      firstname: '\u{1d56b}'.repeat(254),
      external_id: 'c'.repeat(255),
    };
    await createMany(app.key, [long]);
    for (const term of ['b'.repeat(254), `${'b'.repeat(200)}*`, 'c'.repeat(255)])
      expect(await finds(term)).toEqual([long.username]);
  });
});

describe('relevance', () => {
  test('a word in a name comes before one in the login, and that before one in the external id', async () => {
    const bodies = [
      { username: 'rank-id', external_id: 'quartz' },
      { username: 'quartz' },
      { username: 'rank-name', surname: 'Quartz' },
      { username: 'rank-mail', email: 'quartz@example.org' },
    ];
    await createMany(app.key, bodies);
    const order = async (query: string) =>
      (await search(app.key, `fulltext_search=quartz&${query}`)).body.Results.map(
        ({ username }: { username: string }) => username,
      );
    const best = await order('');
    expect([best[0], best.slice(1, 3).sort(), best[3]]).toEqual([
      'rank-name',
      ['quartz', 'rank-mail'],
      'rank-id',
    ]);
    expect(await order('order=asc')).toEqual([...best].reverse());
    expect(await order('sort=username&order=asc')).toEqual(['quartz', 'rank-id', 'rank-mail', 'rank-name']);

    const walked: string[] = [];
    let path: string | undefined = '/users/search?fulltext_search=quartz&limit=1';
    while (path) {
      const page = await app.key.get(path);
      expect(page.body.Count).toBe(4);
      walked.push(...page.body.Results.map(({ username }: { username: string }) => username));
      path = nextOf(page);
    }
    expect(walked).toEqual(best);
  });
});
