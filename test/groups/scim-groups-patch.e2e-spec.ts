import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { UNKNOWN } from '../support/data/factories.js';
import { errorOf, createScimClient, scimOf } from '../support/app/scim.js';
import { ROLES, aScimGroup, listMemberIds, toRefs, pathOf } from '../support/app/scim-groups.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** PATCH of groups, in the formats of all supported identity providers. */
const app = setUpApp();
const scim = scimOf(app);
beforeAll(() => seedUsers(app, 0, 1202));
const jane = seededUuid(1200);
const john = seededUuid(1201);

const aGroup = (body: object = {}, client = scim): Promise<Json> => aScimGroup(client, body);
const readMembers = (group: Json): Promise<string[]> => listMemberIds(scim, group);

describe('a PATCH of group members', () => {
  let group: Json;
  beforeEach(async () => void (group = await aGroup({ members: toRefs(jane) })));
  const add = (...ids: string[]) => ({ op: 'add', path: 'members', value: toRefs(...ids) });
  const pathTo = (id: string) => `members[value eq "${id}"]`;
  const s = seededUuid;

  test.each<[string, object[], string[]]>([
    ['add a list', [add(john, s(1))], [s(1), jane, john]],
    ['add an object (Entra)', [{ op: 'Add', path: 'members', value: { value: john } }], [jane, john]],
    ['add without a path (Okta)', [{ op: 'add', value: { members: toRefs(john) } }], [jane, john]],
    ['add an existing member twice', [add(jane.toUpperCase(), jane)], [jane]],
    ['add unknown ids', [add(UNKNOWN, 'no uuid')], [jane]],
    ['remove by a filter', [{ op: 'remove', path: pathTo(jane) }], []],
    ['remove by an upper-case filter', [{ op: 'REMOVE', path: pathTo(jane.toUpperCase()) }], []],
    [
      'remove by a filter with or',
      [add(john), { op: 'remove', path: `members[value eq "${jane}" or value eq "${john}"]` }],
      [],
    ],
    [
      'remove by a filter with not',
      [add(john), { op: 'remove', path: `members[not (value eq "${john}")]` }],
      [john],
    ],
    ['remove an unknown member', [{ op: 'remove', path: pathTo(john) }], [jane]],
    [
      'remove with a list (Entra)',
      [add(john), { op: 'Remove', path: 'members', value: toRefs(jane, UNKNOWN) }],
      [john],
    ],
    ['remove with an object', [{ op: 'remove', path: 'members', value: { value: jane } }], []],
    ['remove all members', [add(john), { op: 'remove', path: 'members' }], []],
    ['remove an empty list', [{ op: 'remove', path: 'members', value: [] }], [jane]],
    ['replace all', [{ op: 'replace', path: 'members', value: toRefs(john) }], [john]],
    ['replace with an empty list', [{ op: 'replace', path: 'members', value: [] }], []],
    ['replace one with {}', [{ op: 'replace', path: pathTo(jane), value: {} }], [jane]],
    ['set one to null', [{ op: 'replace', path: pathTo(jane), value: { value: null } }], []],
    ['replace one', [{ op: 'replace', path: pathTo(jane), value: { value: john } }], [john]],
    [
      'apply several operations in order',
      [
        { op: 'replace', path: 'members', value: toRefs(s(1), s(2)) },
        { op: 'remove', path: pathTo(s(2)) },
        add(s(3)),
      ],
      [s(1), s(3)],
    ],
    [
      'replace the name and the members together',
      [{ op: 'replace', value: { displayName: 'Renamed', members: toRefs(john) } }],
      [john],
    ],
  ])('results in the expected members: %s', async (_, operations, expected) => {
    const answer = await scim.patch(pathOf(group), ...operations);
    expect(answer).toMatchObject({ status: 200, body: { id: group['id'] } });
    expect(await readMembers(group)).toEqual(expected);
  });

  test.each<[string, () => object[], string]>([
    ['a group as a member', () => [add(group.id)], 'invalidValue'],
    [
      'the replacement of a user who is not a member',
      () => [{ op: 'replace', path: pathTo(john), value: { value: john } }],
      'noTarget',
    ],
    ['an unknown path', () => [{ op: 'add', path: 'member', value: toRefs(john) }], 'invalidPath'],
    [
      'an invalid operation after a valid operation',
      () => [add(john), { op: 'replace', path: 'displayName', value: 'x'.repeat(256) }],
      'invalidValue',
    ],
    ['the removal of displayName', () => [{ op: 'remove', path: 'displayName' }], 'mutability'],
    ['an empty displayName', () => [{ op: 'replace', value: { displayName: '' } }], 'mutability'],
    ['a member without a value', () => [{ op: 'replace', path: 'members', value: [{}] }], 'invalidValue'],
    ['a role without a value', () => [{ op: 'add', value: { [ROLES]: { roles: {} } } }], 'invalidValue'],
    ['a path in meta', () => [{ op: 'replace', path: 'meta.version', value: 'x' }], 'mutability'],
  ])('is refused and changes nothing: %s', async (_, operations, type) => {
    const before = (await scim.get(pathOf(group))).body;
    expect(errorOf(await scim.patch(pathOf(group), ...operations())).slice(0, 2)).toEqual([400, type]);
    expect((await scim.get(pathOf(group))).body).toEqual(before);
  });

  test('without changes keeps the ETag', async () => {
    const answer = await scim.patch(pathOf(group), add(jane), {
      op: 'replace',
      path: 'displayName',
      value: group.displayName,
    });
    expect([answer.headers['etag'], answer.body]).toEqual(['W/"1"', group]);
    expect((await app.key.get(`/audit?target=${group.id as string}`)).body.Count).toBe(1);
  });

  test('is not lost during concurrent PATCHes', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => s(n));
    await Promise.all(ids.map((id) => scim.patch(pathOf(group), add(id))));
    expect(await readMembers(group)).toEqual([...ids, jane].sort());
  });

  test('returns 204 to Entra, and all members to other providers', async () => {
    const entra = await createScimClient(app, { profile: 'entra' });
    expect((await entra.patch(pathOf(group), add(john))).status).toBe(204);
    const chosen = await entra.send('PATCH', `${pathOf(group)}?attributes=displayName`, {
      Operations: [add(john)],
    });
    expect([chosen.status, chosen.body.displayName]).toEqual([200, group.displayName]);
    const many = Array.from({ length: 1100 }, (_, n) => s(n));
    const { status, body } = await scim.patch(pathOf(group), add(...many));
    expect([status, body.members.length]).toEqual([200, 1102]);
    const brief = await scim.send('PATCH', `${pathOf(group)}?excludedAttributes=members`, {
      Operations: [add(jane)],
    });
    expect([brief.status, brief.body.displayName]).toEqual([200, group.displayName]);
  });
});

test('a PATCH of a group sets and removes externalId and roles', async () => {
  const group = await aGroup({ externalId: 'before', members: toRefs(jane) });
  const patched = await scim.patch(
    pathOf(group),
    { op: 'replace', value: { [`${ROLES}:roles`]: [{ value: 'Editor' }], externalId: 'after' } },
    { op: 'remove', path: 'externalId' },
  );
  expect(patched.body).toMatchObject({
    displayName: group.displayName,
    members: toRefs(jane),
    [ROLES]: { roles: [{ value: 'Editor' }] },
  });
  expect(patched.body).not.toHaveProperty('externalId');
  expect((await app.key.get(`/users/${jane}`)).body.group_roles).toEqual(['Editor']);
  const none = await scim.patch(pathOf(group), { op: 'remove', path: `${ROLES}:roles` });
  expect(none.body).not.toHaveProperty([ROLES]);
});
