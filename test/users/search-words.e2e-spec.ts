import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { createMany, found } from '../support/app/search.js';

let app: TestApp;

const PEOPLE = [
  {
    username: 'jane',
    firstname: 'Jane',
    surname: 'Doe',
    email: 'jane.doe@example.org',
    external_id: 'HR-10042',
  },
  {
    username: 'janet',
    firstname: 'Janet',
    surname: 'Doering',
    email: 'janet@mail.example.com',
    external_id: 'HR-10043',
  },
  { username: 'li', firstname: 'Li', surname: 'Bo', email: 'li.b@example.org' },
  { username: 'liv', firstname: 'Liv', surname: 'Boe', email: 'liv.boe@example.org' },
  { username: 'will', firstname: 'Will', middle_name: 'The', surname: 'Not', known_as: 'And' },
  { username: 'willow', firstname: 'Willow', surname: 'Nott' },
  { username: 'jose', firstname: 'José', surname: 'Müller-Lüdenscheidt' },
  { username: 'soren', firstname: 'Søren', surname: 'Ångström', known_as: 'STRAßE' },
  { username: 'obrien', firstname: 'Mary Ann', surname: "O'Brien", external_id: 'A 7/b' },
  { username: 'oneill', firstname: 'Mary', surname: "O'Neill" },
  { username: 'acute', firstname: 'Acute', surname: 'O\u00b4Hara' },
  { username: 'greek', firstname: 'ΣΊΣΥΦΟΣ', surname: '王小明' },
  { username: 'Compound.Login_name two', firstname: 'Percy%', surname: 'Under_score' },
];

beforeAll(async () => {
  app = await TestApp.start();
  await createMany(app.key, PEOPLE);
});
afterAll(() => app.end());

const finds = async (term: string) => found(app.key, { fulltext_search: term, limit: 100 });

describe('a word matches a whole word', () => {
  test.each([
    ['jane', ['jane']],
    ['jan', []],
    ['ane', []],
    ['doe', ['jane']],
    ['jane doe', ['jane']],
    ['doe jane', ['jane']],
    ['  jane   doe  ', ['jane']],
    ['jane jane', ['jane']],
    ['jane doering', []],
    ['jane nobody', []],
    ['mary', ['obrien', 'oneill']],
    ['mary ann', ['obrien']],
    ['li', ['li']],
    ['Bo', ['li']],
    ['will', ['will']],
    ['the', ['will']],
    ['not', ['will']],
    ['and not will', ['will']],
    ['will not found', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await finds(term)).toEqual(usernames);
  });
});

describe('a trailing * matches the beginning of a word', () => {
  test.each([
    ['jan*', ['jane', 'janet']],
    ['jane*', ['jane', 'janet']],
    ['JAN*', ['jane', 'janet']],
    ['jan* doe', ['jane']],
    ['jan* doe*', ['jane', 'janet']],
    ['li*', ['li', 'liv']],
    ['will*', ['will', 'willow']],
    ['*ane', []],
    ['j*e', []],
    ['jane.d*', ['jane']],
    ['hr-1004*', ['jane', 'janet']],
    ['mül*', ['jose']],
    ['王小*', ['greek']],
    ['zz*', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await finds(term)).toEqual(usernames);
  });
});

describe('case and accents are folded, in the term and in the field', () => {
  test.each([
    ['JANE', 'jane'],
    ['josé', 'jose'],
    ['jose', 'jose'],
    ['JOSE\u0301', 'jose'],
    ['soren', 'soren'],
    ['SØREN', 'soren'],
    ['angstrom', 'soren'],
    ['strasse', 'soren'],
    ['Straße', 'soren'],
    ['σίσυφος', 'greek'],
    ['ΣΙΣΥΦΟΣ', 'greek'],
    ['王小明', 'greek'],
    ['ｊａｎｅ', 'jane'],
  ])('"%s" finds %s', async (term, username) => {
    expect(await finds(term)).toEqual([username]);
  });
});

describe('the fields that are searched', () => {
  test.each([
    ['jane.doe@example.org', ['jane']],
    ['JANE.DOE@EXAMPLE.ORG', ['jane']],
    ['jane.doe', ['jane']],
    ['liv.boe', ['liv']],
    ['boe@example.org', []],
    ['example.org', []],
    ['li.b', ['li']],
    ['HR-10042', ['jane']],
    ['hr-10042', ['jane']],
    ['HR-1004', []],
    ['7/b', ['obrien']],
    ['Müller-Lüdenscheidt', ['jose']],
    ['muller', ['jose']],
    ['ludenscheidt', ['jose']],
    ['muller ludenscheidt jose', ['jose']],
    ["O'Brien", ['obrien']],
    ['brien', ['obrien']],
    ['compound.login_name', ['Compound.Login_name two']],
    ['two', ['Compound.Login_name two']],
    ['Active', []],
    ['Organisational', []],
  ])('"%s" finds %j', async (term, usernames) => {
    expect(await finds(term)).toEqual(usernames);
  });

  test('an accent used as an apostrophe does not split the word: all of it must match', async () => {
    expect(await finds('O\u00b4Hara')).toEqual(['acute']);
    expect(await finds('O\u00b4Nobody')).toEqual([]);
    expect(await finds('O\u00b4Har*')).toEqual(['acute']);
  });

  test('a change of a name changes what finds the user', async () => {
    const [uuid] = await createMany(app.key, [{ username: 'changing', surname: 'Before' }]);
    expect(await finds('before')).toEqual(['changing']);
    await app.key.put(`/users/${uuid}`, { surname: 'After', email: 'after.mail@example.org' });
    expect([await finds('before'), await finds('after'), await finds('after.mail')]).toEqual([
      [],
      ['changing'],
      ['changing'],
    ]);
    await app.key.put(`/users/${uuid}`, { surname: '' });
    expect(await finds('after')).toEqual([]);
  });

  test.each(['firstname', 'middle_name', 'surname', 'known_as', 'username', 'email', 'external_id'])(
    'a change of %s alone changes what finds the user',
    async (field) => {
      const values = ['old', 'new'].map((age) => `${age}-${field}@example.net`);
      const [uuid] = await createMany(app.key, [{ username: `one.${field}`, [field]: values[0] }]);
      await app.key.put(`/users/${uuid}`, { [field]: values[1] });
      const { body } = await app.key.get(`/users/${uuid}`);
      expect([await finds(values[0] ?? ''), await finds(values[1] ?? '')]).toEqual([[], [body.username]]);
    },
  );
});
