import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { SYSTEM, aGroup, groupsOf, seedGroups } from '../support/app/groups.js';
import { errorOf, scimOf } from '../support/app/scim.js';
import { walkByCursor, walkByIndex } from '../support/app/scim-lists.js';
import { type Query, queryOf } from '../support/app/search.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** Filters, sort orders and pages of SCIM groups. */
const LARGE = 6000;
const app = setUpApp({ SCIM_SCAN_LIMIT: '1000' });
const scim = scimOf(app);
let groups: Record<string, Json>;
beforeAll(async () => {
  await seedUsers(app, 0, LARGE);
  const created: [string, string, number[]][] = [
    ['Ärzte', 'b-1', [1]],
    ['Bakers', '', [1, 2]],
    ['bakers of old', 'a-2', []],
    ['Cooks', 'B-1', [3]],
  ];
  groups = {};
  for (const [display_name, external_id, members] of created)
    groups[display_name] = await aGroup(app, { display_name, external_id, members: members.map(seededUuid) });
});

const list = (query: Query): Promise<Answer> => scim.get(`/Groups?${queryOf(query)}`);
const displayNamesOf = (resources: Json[]): string[] => resources.map(({ displayName }) => displayName);
const namesOf = ({ body, status, text }: Answer): string[] => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return displayNamesOf(body.Resources);
};
const ALL = ['Ärzte', 'Bakers', 'bakers of old', 'Cooks'];

describe('a SCIM group filter', () => {
  test.each<[string | (() => string), string[]]>([
    ['displayName eq "BAKERS"', ['Bakers']],
    ['displayname EQ "ärzte"', ['Ärzte']],
    ['displayName sw "bakers"', ['Bakers', 'bakers of old']],
    ['displayName co "OO"', ['Cooks']],
    ['displayName ew "old"', ['bakers of old']],
    ['displayName ne "Cooks"', ['Ärzte', 'Bakers', 'bakers of old']],
    ['displayName gt "bakers"', ['Ärzte', 'bakers of old', 'Cooks']],
    ['urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "cooks"', ['Cooks']],
    ['externalId eq "b-1"', ['Ärzte']],
    ['externalId eq "B-1"', ['Cooks']],
    ['externalId sw "a"', ['bakers of old']],
    ['externalId pr', ['Ärzte', 'bakers of old', 'Cooks']],
    ['not (externalId pr)', ['Bakers']],
    ['externalId eq ""', ['Bakers']],
    ['externalId ge "a-2" and externalId lt "b-2"', ['Ärzte', 'bakers of old']],
    [() => `id eq "${groups['Cooks'].uuid.toUpperCase()}"`, ['Cooks']],
    [() => `id gt "${groups['Bakers'].uuid}"`, ['bakers of old', 'Cooks']],
    [() => `members.value eq "${seededUuid(1)}"`, ['Ärzte', 'Bakers']],
    [() => `members eq "${seededUuid(1)}" and displayName sw "b"`, ['Bakers']],
    [() => `members[value eq "${seededUuid(2)}"]`, ['Bakers']],
    [() => `members[value eq "${seededUuid(2)}" or value eq "${seededUuid(3)}"]`, ['Bakers', 'Cooks']],
    [() => `members.value eq "${seededUuid(3)}" or displayName eq "ärzte"`, ['Ärzte', 'Cooks']],
    [() => `not (members.value eq "${seededUuid(1)}")`, ['bakers of old', 'Cooks']],
    ['members pr', ['Ärzte', 'Bakers', 'Cooks']],
    ['not (members pr)', ['bakers of old']],
    ['members.value eq "nobody"', []],
    ['meta.created gt "2020-01-01T00:00:00Z" and displayName co "oo"', ['Cooks']],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
    ['meta.created lt "9999-12-31T23:59:59-14:00"', ALL],
    ['meta.resourceType eq "Group"', ALL],
  ])('finds the matching groups: %s', async (filter, expected) => {
    const answer = await list({ filter: typeof filter === 'string' ? filter : filter() });
    expect(namesOf(answer)).toEqual(expected);
    expect(answer.body).toMatchObject({ totalResults: expected.length, itemsPerPage: expected.length });
  });
});

describe('SCIM group lists', () => {
  test.each<[string, string[]]>([
    ['displayName', ['Bakers', 'bakers of old', 'Cooks', 'Ärzte']],
    ['externalId', ['Cooks', 'bakers of old', 'Ärzte', 'Bakers']],
    ['id', ALL],
    ['meta.created', ALL],
    ['meta.lastModified', ALL],
  ])('are sorted by %s with index and cursor paging', async (sortBy, ascending) => {
    for (const sortOrder of ['ascending', 'descending']) {
      const expected = sortOrder === 'ascending' ? ascending : ascending.toReversed();
      expect(namesOf(await list({ sortBy, sortOrder }))).toEqual(expected);
      for (const filter of ['id pr', 'displayName co "r" or displayName co "o"']) {
        const walked = await walkByCursor(scim, '/Groups', { sortBy, sortOrder, count: 1, filter });
        expect(displayNamesOf(walked)).toEqual(expected);
      }
      const paged = await walkByIndex(scim, '/Groups', { sortBy, sortOrder, count: 2 });
      expect(displayNamesOf(paged)).toEqual(expected);
    }
  });

  test('omit members with excludedAttributes=members', async () => {
    const without = await list({ excludedAttributes: 'members' });
    expect(without.body.Resources.some((group: Json) => 'members' in group)).toBe(false);
    expect((await list({ count: 0 })).body).toMatchObject({
      totalResults: 4,
      itemsPerPage: 0,
      Resources: [],
    });
    expect((await list({ startIndex: 9 })).body).toMatchObject({
      totalResults: 4,
      startIndex: 9,
      Resources: [],
    });
  });

  test('are returned by POST /Groups/.search', async () => {
    const body = {
      filter: 'displayName sw "bak"',
      sortBy: 'displayName',
      count: 1,
      excludedAttributes: ['members'],
    };
    const answer = await scim.post('/Groups/.search', body);
    expect(answer).toMatchObject({ status: 200, body: { totalResults: 2 } });
    expect(namesOf(answer)).toEqual(['Bakers']);
  });
});

test('a page of SCIM groups ends at 10,000 members', async () => {
  const members = Array.from({ length: LARGE }, (_, n) => seededUuid(n));
  const large: string[] = [];
  for (let n = 1; n <= 3; n++) large.push((await aGroup(app, { display_name: `Large ${n}`, members })).uuid);
  const filter = 'displayName sw "large"';
  const first = await list({ filter, sortBy: 'displayName' });
  expect(namesOf(first)).toEqual(['Large 1', 'Large 2']);
  expect(first.body).toMatchObject({ totalResults: 3, itemsPerPage: 2 });
  expect(first.body.Resources[1].members).toHaveLength(LARGE);
  expect(namesOf(await list({ filter, sortBy: 'displayName', startIndex: 3 }))).toEqual(['Large 3']);
  const cursor = (await list({ filter, cursor: '', sortBy: 'displayName' })).body.nextCursor;
  const rest = await list({ filter, cursor, sortBy: 'displayName' });
  expect([namesOf(rest), rest.body.nextCursor]).toEqual([['Large 3'], undefined]);
  expect(namesOf(await list({ filter, excludedAttributes: 'members' }))).toHaveLength(3);

  const chosen = `not (members.value eq "${seededUuid(1)}")`;
  expect(errorOf(await list({ filter: chosen })).slice(0, 2)).toEqual([400, 'tooMany']);
  const refused = await scim.patch(`/Groups/${large[0]!}`, { op: 'remove', path: 'members[value sw "0"]' });
  expect(errorOf(refused).slice(0, 2)).toEqual([400, 'tooMany']);
  for (const uuid of large) await groupsOf(app).delete(uuid, undefined, SYSTEM);
});

test('an unindexed SCIM filter over too many groups returns 400', async () => {
  await seedGroups(app, 1001, 500_000);
  const answer = await list({ filter: 'displayName co "eed"' });
  expect(errorOf(answer)).toEqual([400, 'tooMany', expect.stringContaining('displayName')]);
  const narrower = 'displayName sw "seeded 99" and displayName co "8"';
  expect(namesOf(await list({ filter: narrower }))).toEqual(['Seeded 998']);
});
