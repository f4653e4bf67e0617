import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { type ScimClient, errorOf, scimAs, scimOf } from '../support/app/scim.js';
import { aScimGroup, membersIn, of, pathOf } from '../support/app/scim-groups.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** PATCH of groups, in all styles that providers have. */
const ROLES = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:Group';
const UNKNOWN = '00000000-0000-4000-8000-00000000dead';
let app: TestApp;
let scim: ScimClient;
let jane: string;
let john: string;
beforeAll(async () => {
  app = await TestApp.start();
  scim = scimOf(app);
  await seedUsers(app, 0, 1200);
  [jane, john] = [(await create(app.key)).uuid, (await create(app.key)).uuid].sort() as [string, string];
});
afterAll(() => app.end());

const aGroup = (body: object = {}, client = scim): Promise<Json> => aScimGroup(client, body);
const membersOf = (group: Json): Promise<string[]> => membersIn(scim, group);

describe('PATCH of members', () => {
  let group: Json;
  beforeEach(async () => void (group = await aGroup({ members: of(jane) })));
  const add = (...ids: string[]) => ({ op: 'add', path: 'members', value: of(...ids) });
  const named = (id: string) => `members[value eq "${id}"]`;
  const s = seededUuid;

  test.each<[string, () => object[], () => string[]]>([
    ['add a list', () => [add(john, s(1))], () => [s(1), jane, john]],
    [
      'add one as an object (Entra)',
      () => [{ op: 'Add', path: 'members', value: { value: john } }],
      () => [jane, john],
    ],
    ['add without a path (Okta)', () => [{ op: 'add', value: { members: of(john) } }], () => [jane, john]],
    ['add who is there, twice, in capitals', () => [add(jane.toUpperCase(), jane)], () => [jane]],
    ['add nobody', () => [add(UNKNOWN, 'no uuid')], () => [jane]],
    ['remove by a filter', () => [{ op: 'remove', path: named(jane) }], () => []],
    ['remove by a filter in capitals', () => [{ op: 'REMOVE', path: named(jane.toUpperCase()) }], () => []],
    [
      'remove by a filter of several',
      () => [add(john), { op: 'remove', path: `members[value eq "${jane}" or value eq "${john}"]` }],
      () => [],
    ],
    [
      'remove by a filter of another form',
      () => [add(john), { op: 'remove', path: `members[not (value eq "${john}")]` }],
      () => [john],
    ],
    ['remove who is not there', () => [{ op: 'remove', path: named(john) }], () => [jane]],
    [
      'remove with a list (Entra)',
      () => [add(john), { op: 'Remove', path: 'members', value: of(jane, UNKNOWN) }],
      () => [john],
    ],
    ['remove with an object', () => [{ op: 'remove', path: 'members', value: { value: jane } }], () => []],
    ['remove all', () => [add(john), { op: 'remove', path: 'members' }], () => []],
    ['remove with an empty list', () => [{ op: 'remove', path: 'members', value: [] }], () => [jane]],
    ['replace', () => [{ op: 'replace', path: 'members', value: of(john) }], () => [john]],
    ['replace with nothing', () => [{ op: 'replace', path: 'members', value: [] }], () => []],
    ['replace one', () => [{ op: 'replace', path: named(jane), value: { value: john } }], () => [john]],
    [
      'in order',
      () => [
        { op: 'replace', path: 'members', value: of(s(1), s(2)) },
        { op: 'remove', path: named(s(2)) },
        add(s(3)),
      ],
      () => [s(1), s(3)],
    ],
    [
      'with a name',
      () => [{ op: 'replace', value: { displayName: 'Renamed', members: of(john) } }],
      () => [john],
    ],
  ])('%s', async (_, operations, expected) => {
    const answer = await scim.patch(pathOf(group), ...operations());
    expect(answer).toMatchObject({ status: 200, body: { id: group['id'] } });
    expect(await membersOf(group)).toEqual(expected());
  });

  test.each<[string, () => object[], number, string | undefined]>([
    ['a group', () => [add(group.id)], 400, 'invalidValue'],
    [
      'one who is not there is replaced',
      () => [{ op: 'replace', path: named(john), value: { value: john } }],
      400,
      'noTarget',
    ],
    ['an unknown path', () => [{ op: 'add', path: 'member', value: of(john) }], 400, 'invalidPath'],
    [
      'a bad operation behind a good one',
      () => [add(john), { op: 'replace', path: 'displayName', value: '' }],
      400,
      'invalidValue',
    ],
    ['meta', () => [{ op: 'replace', path: 'meta.version', value: 'x' }], 400, 'mutability'],
  ])('%s is refused, and nothing is changed', async (_, operations, status, type) => {
    const before = (await scim.get(pathOf(group))).body;
    expect(errorOf(await scim.patch(pathOf(group), ...operations())).slice(0, 2)).toEqual([status, type]);
    expect((await scim.get(pathOf(group))).body).toEqual(before);
  });

  test('without a difference leaves the version, and an event in the audit neither', async () => {
    const answer = await scim.patch(pathOf(group), add(jane), {
      op: 'replace',
      path: 'displayName',
      value: group.displayName,
    });
    expect([answer.headers['etag'], answer.body]).toEqual(['W/"1"', group]);
    expect((await app.key.get(`/audit?target=${group.id as string}`)).body.Count).toBe(1);
  });

  test('at once: both stay', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => s(n));
    await Promise.all(ids.map((id) => scim.patch(pathOf(group), add(id))));
    expect(await membersOf(group)).toEqual([...ids, jane].sort());
  });

  test('answers 204 to Entra, and where many members would come that nobody has asked for', async () => {
    const entra = await scimAs(app, { profile: 'entra' });
    expect((await entra.patch(pathOf(group), add(john))).status).toBe(204);
    const chosen = await entra.send('PATCH', `${pathOf(group)}?attributes=displayName`, {
      Operations: [add(john)],
    });
    expect([chosen.status, chosen.body.displayName]).toEqual([200, group.displayName]);
    const many = Array.from({ length: 1100 }, (_, n) => s(n));
    expect((await scim.patch(pathOf(group), add(...many))).status).toBe(204);
    expect(await membersOf(group)).toHaveLength(1102);
    const brief = await scim.send('PATCH', `${pathOf(group)}?excludedAttributes=members`, {
      Operations: [add(jane)],
    });
    expect([brief.status, brief.body.displayName]).toEqual([200, group.displayName]);
  });
});

test('a PATCH of other attributes: name, external id, roles', async () => {
  const group = await aGroup({ externalId: 'before', members: of(jane) });
  const patched = await scim.patch(
    pathOf(group),
    { op: 'replace', value: { [`${ROLES}:roles`]: [{ value: 'Editor' }], externalId: 'after' } },
    { op: 'remove', path: 'externalId' },
  );
  expect(patched.body).toMatchObject({
    displayName: group.displayName,
    members: of(jane),
    [ROLES]: { roles: [{ value: 'Editor' }] },
  });
  expect(patched.body).not.toHaveProperty('externalId');
  expect((await app.key.get(`/users/${jane}`)).body.group_roles).toEqual(['Editor']);
  const none = await scim.patch(pathOf(group), { op: 'remove', path: `${ROLES}:roles` });
  expect(none.body).not.toHaveProperty([ROLES]);
});
