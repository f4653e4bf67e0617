import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { ENTERPRISE, type ScimClient, errorOf, provision, scimOf } from '../support/app/scim.js';
import { fetchList, walkByCursor, walkByIndex } from '../support/app/scim-lists.js';
import type { Query } from '../support/app/search.js';

/** Number of users with different attributes. */
const PEOPLE = 23;
const app = setUpApp();
let scim: ScimClient;
let users: Json[] = [];
beforeAll(async () => {
  scim = scimOf(app);
  const boss = await provision(scim, { userName: 'boss', externalId: 'B' });
  for (let n = 0; n < PEOPLE; n++) {
    await provision(scim, {
      userName: `u${String(n).padStart(2, '0')}`,
      ...(n % 3 === 0 && { externalId: `x${n}` }),
      emails: [
        { value: `u${n}@example.org`, type: n % 2 ? 'work' : 'home', primary: true },
        { value: `other${n}@example.net`, type: 'other' },
      ],
      name: { givenName: ['Jörg', 'JORG', 'Ann'][n % 3], ...(n % 4 === 0 && { familyName: `F${n}` }) },
      ...(n % 2 === 0 && { displayName: `Name ${n % 5}` }),
      active: n % 7 !== 0,
      roles: [{ value: n % 5 === 0 ? 'Editor' : 'Author' }],
      [ENTERPRISE]: {
        employeeNumber: `e${n % 6}`,
        department: n % 2 ? 'Sales' : 'sales',
        ...(n > 15 && { manager: { value: boss.id } }),
      },
    });
  }
  users = (await scim.get('/Users?count=200')).body.Resources;
});

const namesOf = (resources: Json[]): string[] => resources.map(({ userName }) => userName);
const get = (query: Query): Promise<Json> => fetchList(scim, '/Users', query);
/** Returns the usernames on one page. */
const readNames = async (query: Query): Promise<string[]> => namesOf((await get(query)).Resources);

describe('SCIM pages by index', () => {
  test('contain at most count users from startIndex', async () => {
    const all = namesOf(users);
    expect(all).toHaveLength(PEOPLE + 2);
    for (const [query, startIndex, expected] of [
      [{}, 1, all],
      [{ count: 5 }, 1, all.slice(0, 5)],
      [{ startIndex: 3, count: 5 }, 3, all.slice(2, 7)],
      [{ startIndex: 0, count: 2 }, 1, all.slice(0, 2)],
      [{ startIndex: -7, count: 2 }, 1, all.slice(0, 2)],
      [{ count: -1 }, 1, []],
      [{ count: 0 }, 1, []],
      [{ count: 1000 }, 1, all],
      [{ startIndex: 24 }, 24, all.slice(23)],
      [{ startIndex: 500 }, 500, []],
    ] as const) {
      const body = await get(query);
      expect({
        query,
        startIndex: body.startIndex,
        itemsPerPage: body.itemsPerPage,
        totalResults: body.totalResults,
      }).toEqual({ query, startIndex, itemsPerPage: expected.length, totalResults: all.length });
      expect(namesOf(body.Resources)).toEqual(expected);
    }
  });

  test('list users in order of creation', async () => {
    const found = await readNames({ filter: `${ENTERPRISE}:department eq "SALES"` });
    expect(found).toEqual(namesOf(users).filter((name) => /^u\d/.test(name)));
  });
});

/** Filters that can use an index. Each is compared with `not (not (filter))`, which always scans all users. */
const FILTERS = [
  'userName eq "U05"',
  'userName sw "u0"',
  'userName gt "u10" and userName le "u12"',
  'externalId eq "x3"',
  'externalId eq "X3"',
  'emails eq "u7@EXAMPLE.org"',
  'emails.value eq "other7@example.net"',
  'emails.value sw "other1"',
  'emails[type eq "work"].value eq "u7@example.org"',
  'emails[type eq "home"].value eq "u7@example.org"',
  'emails[type eq "other" and value sw "other2"]',
  'displayName eq "name 3"',
  'displayName sw "NAME"',
  `${ENTERPRISE}:employeeNumber eq "e4"`,
  `${ENTERPRISE}:department eq "Sales" and active eq false`,
  `${ENTERPRISE}:manager.value pr`,
  'active eq false',
  'active eq true and userName sw "u1"',
  'roles.value eq "editor"',
  'roles eq "Author" and name.givenName eq "ann"',
  'name.givenName eq "jörg"',
  'name.familyName sw "f1"',
  'userName eq "u01" or userName eq "u02"',
  'userName eq "u01" or title pr',
  'userName eq "u01" or (userName sw "u1" and active eq true)',
  'userName ne "u01" and externalId pr',
  'meta.created gt "2020-01-01T00:00:00Z" and userName co "2"',
  'meta.lastModified lt "2020-01-01T00:00:00Z"',
  'meta.created lt "9999-12-31T23:59:59-14:00"',
  'roles.value eq "Nobody"',
  'id sw "0"',
  'groups.value eq "00000000-0000-4000-8000-000000000000"',
];

test.each(FILTERS)('an index does not change the result of the filter %s', async (filter) => {
  const [keyed, scanned] = [await get({ filter }), await get({ filter: `not (not (${filter}))` })];
  expect(namesOf(keyed.Resources)).toEqual(namesOf(scanned.Resources));
  expect(keyed.totalResults).toBe(keyed.Resources.length);
  expect(scanned.totalResults).toBe(keyed.Resources.length);
});

test('a SCIM filter by manager.value finds the reports of that manager', async () => {
  const boss = users.find(({ userName }) => userName === 'boss');
  const found = await readNames({ filter: `${ENTERPRISE}:manager.value eq "${boss.id}"` });
  expect(found).toEqual(['u16', 'u17', 'u18', 'u19', 'u20', 'u21', 'u22']);
});

describe('sorted SCIM lists', () => {
  const sorts = [
    'userName',
    'externalId',
    'emails',
    'name.givenName',
    'name.familyName',
    'meta.created',
    'id',
    'displayName',
    'title',
    'active',
  ];
  test.each(sorts)('return every user once: %s', async (sortBy) => {
    for (const sortOrder of ['ascending', 'descending']) {
      for (const filter of ['', 'userName sw "u"', 'userName co "1"']) {
        const query = { sortBy, sortOrder, ...(filter && { filter }), count: 4 };
        const whole = await readNames({ ...query, count: 200 });
        expect(new Set(whole).size).toBe(whole.length);
        expect(namesOf(await walkByIndex(scim, '/Users', query))).toEqual(whole);
        expect(namesOf(await walkByCursor(scim, '/Users', query))).toEqual(whole);
      }
    }
  });

  test('place users without a value last in ascending order', async () => {
    for (const sortBy of ['externalId', 'name.familyName', 'displayName']) {
      const read = ({ Resources }: Json): boolean[] =>
        Resources.map(
          (each: Json) => (sortBy === 'name.familyName' ? each.name?.familyName : each[sortBy]) !== undefined,
        );
      const up = read(await get({ sortBy, count: 200 }));
      expect(up).toEqual(up.toSorted((a, b) => Number(b) - Number(a)));
      const down = read(await get({ sortBy, sortOrder: 'descending', count: 200 }));
      expect(down).toEqual(down.toSorted((a, b) => Number(a) - Number(b)));
      expect(up).toContain(false);
    }
  });
});

describe('a SCIM cursor', () => {
  test('is refused with another filter or sort order', async () => {
    const first = await get({ cursor: '', count: 20 });
    const last = await get({ cursor: first.nextCursor, count: 20 });
    expect(first.itemsPerPage).toBe(20);
    expect([last.itemsPerPage, last.nextCursor]).toEqual([PEOPLE + 2 - 20, undefined]);
    expect((await get({ cursor: '', count: 0 })).Resources).toEqual([]);
    for (const query of [
      '&filter=active%20eq%20true',
      '&sortBy=userName',
      '&sortOrder=descending&sortBy=id',
    ]) {
      const answer = await scim.get(`/Users?cursor=${first.nextCursor}${query}`);
      expect(errorOf(answer).slice(0, 2)).toEqual([400, 'invalidCursor']);
    }
  });

  test('returns every user if sortOrder is sent without sortBy', async () => {
    const query = { filter: 'userName co "1"', sortOrder: 'descending', count: 4 };
    const whole = await readNames({ ...query, count: 200 });
    expect(namesOf(await walkByCursor(scim, '/Users', query))).toEqual(whole);
  });

  test('continues after the last user of the previous page', async () => {
    const extra = [
      await provision(scim, { title: 'walk' }),
      await provision(scim, { title: 'walk' }),
      await provision(scim, { title: 'walk' }),
    ];
    for (const filter of ['title eq "walk"', `id ge "${extra[0].id}"`]) {
      const { nextCursor, Resources } = await get({ filter, cursor: '', count: 1 });
      expect(Resources[0].id).toBe(extra[0].id);
      expect((await get({ filter, cursor: nextCursor, count: 1 })).Resources[0].id).toBe(extra[1].id);
    }
    await Promise.all(extra.map(({ id }) => scim.delete(`/Users/${id}`)));
  });
});

test('POST /Users/.search returns the same page as GET /Users', async () => {
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
    filter: 'userName sw "u0"',
    count: 3,
    startIndex: 2,
    attributes: ['userName'],
  };
  const answer = await scim.post('/Users/.search', body);
  expect([answer.status, answer.body]).toEqual([
    200,
    await get({ filter: 'userName sw "u0"', count: 3, startIndex: 2, attributes: 'userName' }),
  ]);
  expect(Object.keys(answer.body.Resources[0]).sort()).toEqual(['id', 'schemas', 'userName']);
});
