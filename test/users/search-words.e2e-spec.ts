import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { problemOf } from '../support/app/people.js';
import { createMany, findNames, search } from '../support/app/search.js';

/** Case folding and accent folding are tested in `unit/text`. */
const app = setUpApp();

const JANE = { username: 'jane', email: 'jane.doe@example.org' };
const PEOPLE = [
  { ...JANE, firstname: 'Jane', surname: 'Doe', external_id: 'HR-10042' },
  { username: 'janet', firstname: 'Janet', surname: 'Doering', external_id: 'HR-10043' },
  { username: 'li', firstname: 'Li', surname: 'Bo' },
  { username: 'liv', firstname: 'Liv', surname: 'Boe', email: 'liv.boe@example.org' },
  { username: 'will', firstname: 'Will', middle_name: 'The', surname: 'Not', known_as: 'And' },
  { username: 'jose', firstname: 'José', surname: 'Müller-Lüdenscheidt' },
  { username: 'soren', firstname: 'Søren', surname: 'Ångström', known_as: 'STRAßE' },
  { username: 'obrien', firstname: 'Mary Ann', surname: "O'Brien", external_id: 'A 7/b' },
  { username: 'oneill', firstname: 'Mary', surname: "O'Neill" },
  { username: 'acute', firstname: 'Acute', surname: 'O\u00b4Hara' },
  { username: 'mueller', firstname: 'Kjær' },
  { username: 'hunter', surname: 'JÄGER' },
  { username: 'greek', firstname: 'ΣΊΣΥΦΟΣ', surname: '王小明' },
  { username: 'Compound.Login_name two', firstname: 'Percy%', surname: 'Under_score', known_as: 'table' },
];

beforeAll(async () => {
  await createMany(app.key, PEOPLE);
});

const find = async (term: string) => findNames(app.key, { fulltext_search: term, limit: 100 });

describe('a search term without * matches whole words', () => {
  test.each([
    ['jane', ['jane']],
    ['jan', []],
    ['ane', []],
    ['doe jane', ['jane']],
    ['jane jane', ['jane']],
    ['jane doering', []],
    ['jane nobody', []],
    ['mary', ['obrien', 'oneill']],
    ['mary ann', ['obrien']],
    ['li', ['li']],
    ['and not will', ['will']],
    ['will not found', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await find(term)).toEqual(usernames);
  });
});

describe('a search term ignores case, accents and spellings of a letter', () => {
  test.each([
    ['müller', ['jose', 'mueller']],
    ['MU\u0308LLER', ['jose', 'mueller']],
    ['mueller', ['jose', 'mueller']],
    ['muller', ['jose']],
    ['mueller-luedenscheidt', ['jose']],
    ['muel* lued*', ['jose']],
    ['mül*', ['jose', 'mueller']],
    ['JOSE\u0301', ['jose']],
    ['SOREN', ['soren']],
    ['soeren', ['soren']],
    ['σίσυφος', ['greek']],
    ['ｊａｎｅ', ['jane']],
    ['angstrom', ['soren']],
    ['aangstroem', ['soren']],
    ['Ångstroem', ['soren']],
    ['aangstr*', ['soren']],
    ['strasse', ['soren']],
    ['kjaer', ['mueller']],
    ['kjær', ['mueller']],
    ['jäger', ['hunter']],
    ['jaeger', ['hunter']],
    ['jager', ['hunter']],
    ['müller soeren', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await find(term)).toEqual(usernames);
  });
});

describe('only a trailing * is a wildcard', () => {
  test.each([
    ['jan*', ['jane', 'janet']],
    ['jane*', ['jane', 'janet']],
    ['JAN*', ['jane', 'janet']],
    ['jan* doe', ['jane']],
    ['jan* doe*', ['jane', 'janet']],
    ['*ane', []],
    ['j*e', []],
    ['jane.d*', ['jane']],
    ['hr-1004*', ['jane', 'janet']],
    ['王小*', ['greek']],
    ['zz*', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await find(term)).toEqual(usernames);
  });
});

describe('fulltext_search', () => {
  test.each([
    ['JANE.DOE@EXAMPLE.ORG', ['jane']],
    ['liv.boe', ['liv']],
    ['boe@example.org', []],
    ['example.org', []],
    ['hr-10042', ['jane']],
    ['HR-1004', []],
    ['7/b', ['obrien']],
    ['Müller-Lüdenscheidt', ['jose']],
    ['ludenscheidt jose', ['jose']],
    ["O'Brien", ['obrien']],
    ['brien', ['obrien']],
    ['compound.login_name', ['Compound.Login_name two']],
    ['Active', []],
    ['Organisational', []],
  ])('for "%s" finds %j', async (term, usernames) => {
    expect(await find(term)).toEqual(usernames);
  });

  test('does not split words at an acute accent', async () => {
    expect(await find('O\u00b4Hara')).toEqual(['acute']);
    expect(await find('O\u00b4Nobody')).toEqual([]);
    expect(await find('O\u00b4Har*')).toEqual(['acute']);
  });

  test.each(['firstname', 'middle_name', 'surname', 'known_as', 'username', 'email', 'external_id'])(
    'finds a changed %s only by the new value',
    async (field) => {
      const values = ['old', 'new'].map((age) => `${age}-${field}@example.net`);
      const [uuid] = await createMany(app.key, [{ username: `one.${field}`, [field]: values[0] }]);
      await app.key.put(`/users/${uuid}`, { [field]: values[1] });
      const { body } = await app.key.get(`/users/${uuid}`);
      expect(await find(values[0] ?? '')).toEqual([]);
      expect(await find(values[1] ?? '')).toEqual([body.username]);
    },
  );

  test('finds words of the maximum length', async () => {
    const [username, external_id] = ['b'.repeat(254), 'c'.repeat(255)];
    await createMany(app.key, [{ username, external_id, firstname: '\u{1d56b}'.repeat(254) }]);
    for (const term of [username, `${'b'.repeat(200)}*`, external_id])
      expect(await find(term)).toEqual([username]);
  });
});

describe('an unusual search term', () => {
  test.each(['%', '_', "'", '\\', '; DROP TABLE users; --', "' OR '1'='1", 'j_ne', 'jan%', '%*', '_*'])(
    'is not interpreted as a pattern or SQL: %j',
    async (term) => {
      expect(await find(term)).toEqual([]);
    },
  );

  test.each(['...', '- -', '😀', '👩‍👩‍👧 🎉', '\u200b', '\u0301'])(
    'without a word finds no user: %j',
    async (term) => {
      expect((await search(app.key, { fulltext_search: term })).body).toEqual({ Count: 0, Results: [] });
    },
  );

  test.each(['*', 'jane *', '* *'])('with a lone * is refused: %j', async (term) => {
    const answer = await search(app.key, { fulltext_search: term });
    expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
  });

  test.each([
    ['percy%', 'Compound.Login_name two'],
    ['"jane"', 'jane'],
    ['jane😀', 'jane'],
  ])('may have punctuation around a word: %j finds %s', async (term, username) => {
    expect(await find(term)).toEqual([username]);
  });

  test.each([
    ['a NUL character', 'jane\0'],
    ['a control character', 'jane\x07'],
    ['256 characters', 'x'.repeat(256)],
  ])('with %s is refused', async (_, term) => {
    const answer = await search(app.key, { fulltext_search: term });
    expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain('fulltext_search');
  });

  test.each([
    ['one word', 'x'.repeat(255)],
    ['one prefix', `${'x'.repeat(254)}*`],
    ['letters that expand when folded', 'ﷺ'.repeat(200)],
    ['many words', 'qq '.repeat(85)],
  ])('near the length limit causes no server error: %s', async (_, term) => {
    const answer = await search(app.key, { fulltext_search: term });
    expect([200, 400]).toContain(answer.status);
    expect(answer.body.Count ?? 0).toBe(0);
  });
});

test('fulltext_search ranks names, then username and email, then external_id', async () => {
  await createMany(app.key, [
    { username: 'rank-id', external_id: 'quartz' },
    { username: 'quartz' },
    { username: 'rank-name', surname: 'Quartz' },
    { username: 'rank-mail', email: 'quartz@example.org' },
  ]);
  const readOrder = async (query: string) =>
    (await search(app.key, `fulltext_search=quartz&${query}`)).body.Results.map(
      ({ username }: { username: string }) => username,
    );
  const best = await readOrder('');
  expect([best[0], best[3]]).toEqual(['rank-name', 'rank-id']);
  expect(best.slice(1, 3).sort()).toEqual(['quartz', 'rank-mail']);
  expect(await readOrder('order=asc')).toEqual([...best].reverse());
  expect(await readOrder('sort=username&order=asc')).toEqual(['quartz', 'rank-id', 'rank-mail', 'rank-name']);
});
