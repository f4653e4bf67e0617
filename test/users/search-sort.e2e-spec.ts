import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { createMany, search, walkByLink, walkByOffset } from '../support/app/search.js';
import { databaseOf } from '../support/app/people.js';

/** Each row lists spellings that sort as equal. The rows are in ascending order. */
const NAMES = [
  ['ann', 'Ann', 'ÁNN', 'a\u030ann'],
  ['Ann B'],
  ['Ann-B'],
  ['Annb'],
  ['Emile', 'Émile', 'émilE'],
  ['lukasz', 'Łukasz'],
  ['oystein', 'Øystein'],
  ['strasse', 'Straße', 'STRASSE'],
  ['zoe', 'Zoë', 'ZOE\u0308'],
  ['Ωμέγα', 'ΩΜΕΓΑ'],
];
const TIMES = ['2026-01-01 00:00:00.000', '2026-01-01 00:00:00.001', '2026-03-01 12:00:00.000'];
const USERS = 240;
/** Permutes the indexes, so that neighbours in the order are not created one after the other. */
const scatter = (index: number) => (index * 97) % USERS;

const app = setUpApp();

beforeAll(async () => {
  const spellings = NAMES.flat().map((name) => name.normalize('NFC'));
  const bodies = Array.from({ length: USERS }, (_, index) => {
    const number = String(scatter(index)).padStart(3, '0');
    return {
      username: `${index % 2 ? 'Login' : 'login'}-${number} walker`,
      email: `${index % 3 ? 'm' : 'M'}${number}@example.org`,
      firstname: index % 5 < 2 ? '' : spellings[index % spellings.length],
      surname: index % 4 === 0 ? spellings[scatter(index) % spellings.length] : '',
      external_id: index % 3 ? '' : `hr-${number}`,
      status: index % 7 ? 'Active' : 'Blocked',
      ...(index % 6 === 0 && { known_as: 'walker' }),
    };
  });
  const uuids = await createMany(app.key, bodies);
  const database = databaseOf(app);
  for (const [index, uuid] of uuids.entries()) {
    const [updated = '', created = ''] = [TIMES[index % 3], TIMES[Math.floor(index / 9) % 3]];
    await database.execute('UPDATE users SET updated = ?, created = ? WHERE uuid = ?', [
      updated,
      created,
      uuid,
    ]);
  }
});

const findRank = (name: string): number | null => {
  const at = NAMES.findIndex((row) => row.some((spelling) => spelling.normalize('NFC') === name));
  return at < 0 ? null : at;
};
const toNullable = (text: string): string | null => (text === '' ? null : text);

/** Functions that return the sort key of a user, or null for an empty value. */
const KEYS: Record<string, (user: Json) => string | number | null> = {
  updated: (user) => user.updated as string,
  created: (user) => user.created as string,
  status: (user) => user.status as string,
  username: (user) => (user.username as string).toLowerCase(),
  email: (user) => (user.email as string).toLowerCase(),
  external_id: (user) => toNullable(user.external_id as string),
  firstname: (user) => findRank(user.firstname as string),
  surname: (user) => findRank(user.surname as string),
};
const CASES = Object.keys(KEYS).flatMap((sort) => ['asc', 'desc'].map((order) => [sort, order] as const));

/** Returns the UUIDs sorted by key with empty values last. Users with equal keys are sorted by UUID. */
function sortUsers(users: readonly Json[], sort: string, order: string, uuids: 1 | -1): string[] {
  const key = KEYS[sort] ?? (() => null);
  const direction = order === 'asc' ? 1 : -1;
  const compare = (a: Json, b: Json): number => {
    const [x, y] = [key(a), key(b)];
    if (x === y) return a.uuid < b.uuid ? -uuids : uuids;
    if (x === null || y === null) return x === null ? 1 : -1;
    return x < y ? -direction : direction;
  };
  return [...users].sort(compare).map(({ uuid }) => uuid as string);
}
const uuidsOf = (users: readonly Json[]): string[] => users.map(({ uuid }) => uuid as string);

describe.each(CASES)('a search with sort=%s&order=%s', (sort, order) => {
  test('returns every user once and in order', async () => {
    const users = await walkByLink(app.key, { sort, order, limit: 37 });
    const uuids = uuidsOf(users);
    expect(uuids).toHaveLength(USERS + 1);
    expect(new Set(uuids).size).toBe(USERS + 1);
    expect([sortUsers(users, sort, order, 1), sortUsers(users, sort, order, -1)]).toContainEqual(uuids);
    expect(uuidsOf(await walkByOffset(app.key, { sort, order, limit: 41 }))).toEqual(uuids);

    const filtered = { sort, order, limit: 23, status: 'Active', fulltext_search: 'walk*' };
    const expected = users.filter((user) => user.status === 'Active' && user.username !== 'admin');
    expect(uuidsOf(await walkByLink(app.key, filtered))).toEqual(uuidsOf(expected));
    expect(uuidsOf(await walkByOffset(app.key, filtered))).toEqual(uuidsOf(expected));
  });
});

test('a search sorted by surname returns every user once with limit=1', async () => {
  for (const order of ['asc', 'desc']) {
    const query = { sort: 'surname', order, has_external_id: true, created_since: '2026-02-01', limit: 1 };
    const one = await walkByLink(app.key, query);
    const all = await walkByLink(app.key, { ...query, limit: 100 });
    expect(all.filter(({ surname }) => surname === '').length).toBeGreaterThan(5);
    expect(all.filter(({ surname }) => surname !== '').length).toBeGreaterThan(5);
    expect(uuidsOf(one)).toEqual(uuidsOf(all));
    expect(uuidsOf(await walkByOffset(app.key, query))).toEqual(uuidsOf(all));
  }
});

test('sort=relevance returns every match once and the best matches first', async () => {
  for (const order of ['desc', 'asc']) {
    const query = { fulltext_search: 'walker', sort: 'relevance', order };
    const users = await walkByLink(app.key, { ...query, limit: 17 });
    expect(new Set(uuidsOf(users)).size).toBe(USERS);
    expect(users).toHaveLength(USERS);
    expect(uuidsOf(await walkByOffset(app.key, { ...query, limit: 50 }))).toEqual(uuidsOf(users));
    // A match in a name ranks higher than a match in the username, so the users form two blocks.
    const named = users.map(({ known_as }) => known_as === 'walker');
    const first = order === 'desc';
    expect(named).toEqual([...named].sort((a, b) => (a === b ? 0 : a === first ? -1 : 1)));
  }
});

test('searches are sorted by relevance if they have a term, otherwise by updated', async () => {
  const plain = await search(app.key, { limit: 100 });
  for (const query of [{ sort: 'relevance' }, { order: 'desc' }, { sort: 'updated', order: 'desc' }]) {
    expect((await search(app.key, { ...query, limit: 100 })).body).toEqual(plain.body);
  }
  expect(plain.body.Results[0].username).toBe('admin');
  const words = await search(app.key, { fulltext_search: 'walker' });
  expect(
    (await search(app.key, { fulltext_search: 'walker', sort: 'relevance', order: 'desc' })).body,
  ).toEqual(words.body);
});
