import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { errorOf, createScimClient, scimOf } from '../support/app/scim.js';
import { sendBulk } from '../support/app/scim-bulk.js';
import { ROLES, aName, aScimGroup, listMemberIds, toRefs, pathOf } from '../support/app/scim-groups.js';

/** Groups as an identity provider sees them: created, read, replaced, patched and deleted. */
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const app = setUpApp();
const scim = scimOf(app);
let jane: string;
let john: string;
beforeAll(async () => {
  [jane, john] = [(await create(app.key)).uuid, (await create(app.key)).uuid].sort() as [string, string];
});

const aGroup = (body: object = {}, client = scim): Promise<Json> => aScimGroup(client, body);
const readMembers = (group: Json): Promise<string[]> => listMemberIds(scim, group);

describe('POST /Groups', () => {
  test('returns the group with its location and version', async () => {
    const body = { displayName: aName(), externalId: 'ext-1', members: toRefs(john, jane, jane, UNKNOWN) };
    const answer = await scim.post('/Groups', body);
    const { id } = answer.body;
    const location = `http://rollcall.test/scim/v2/Groups/${id as string}`;
    expect([answer.status, answer.headers['location'], answer.headers['etag']]).toEqual([
      201,
      location,
      'W/"1"',
    ]);
    expect(answer.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(answer.body).toEqual({
      ...body,
      schemas: [GROUP],
      id,
      members: [jane, john].map((value) => ({ value, $ref: `http://rollcall.test/scim/v2/Users/${value}` })),
      meta: {
        resourceType: 'Group',
        created: expect.stringMatching(/Z$/),
        lastModified: answer.body.meta.created,
        location,
        version: 'W/"1"',
      },
    });
    expect((await scim.get(pathOf(answer.body))).body).toEqual(answer.body);
  });

  test.each<[object, string]>([
    [{ displayName: undefined }, 'displayName is required'],
    [{ displayName: ' ' }, 'displayName'],
    [{ displayName: 'x'.repeat(256) }, 'displayName may have at most 255'],
    [{ displayName: 'a\u200Bb' }, 'displayName must not contain the invisible character U+200B'],
    [{ displayName: 5 }, 'displayName'],
    [{ members: [{ $ref: 'https://x.org/scim/v2/Users/1' }] }, 'members[0].value is required'],
    [{ [ROLES]: { roles: [{ display: 'Editor' }] } }, `${ROLES}:roles[0].value is required`],
    [{ externalId: 'x'.repeat(256) }, 'externalId may have at most 255'],
    [{ [ROLES]: { roles: [{ value: 'Nobody' }] } }, 'roles must contain only roles of this service'],
  ])('returns 400 for %j', async (body, detail) => {
    const answer = await scim.post('/Groups', { displayName: aName(), ...body });
    expect(errorOf(answer)).toEqual([400, 'invalidValue', expect.stringContaining(detail)]);
  });

  test('returns 409 for a taken displayName or externalId', async () => {
    const other = await aGroup({ externalId: 'taken' });
    const refused = await scim.post('/Groups', { displayName: aName(), members: toRefs(jane, other.id) });
    expect(errorOf(refused)).toEqual([400, 'invalidValue', expect.stringContaining(other.id)]);
    for (const body of [
      { displayName: other.displayName.toUpperCase() },
      { displayName: aName(), externalId: 'taken' },
    ]) {
      const answer = await scim.post('/Groups', body);
      expect(errorOf(answer)).toEqual([409, 'uniqueness', expect.stringContaining(other.id)]);
    }
  });
});

describe('GET /Groups/{id}', () => {
  test('returns only the selected attributes', async () => {
    const group = await aGroup({ members: toRefs(jane) });
    const readKeys = async (query: string) =>
      Object.keys((await scim.get(`${pathOf(group)}?${query}`)).body).sort();
    expect(await readKeys('excludedAttributes=members')).toEqual(['displayName', 'id', 'meta', 'schemas']);
    expect(await readKeys('attributes=members.value')).toEqual(['id', 'members', 'schemas']);
    expect(await readKeys('attributes=displayname')).toEqual(['displayName', 'id', 'schemas']);
    expect((await scim.get(`${pathOf(group)}?attributes=id&excludedAttributes=members`)).status).toBe(400);
  });

  test('returns 304 for a matching If-None-Match', async () => {
    const group = await aGroup();
    expect((await scim.get(pathOf(group), { 'if-none-match': 'W/"1"' })).status).toBe(304);
    expect((await scim.get(pathOf(group), { 'if-none-match': 'W/"2"' })).status).toBe(200);
    for (const id of [UNKNOWN, jane, 'newsroom'])
      expect(errorOf(await scim.get(`/Groups/${id}`))).toEqual([404, undefined, expect.stringContaining(id)]);
  });
});

describe('PUT /Groups/{id}', () => {
  test('clears omitted attributes, except members and roles', async () => {
    const group = await aGroup({
      externalId: 'put',
      members: toRefs(jane),
      [ROLES]: { roles: [{ value: 'editor' }] },
    });
    const displayName = aName();
    const { body, status } = await scim.put(pathOf(group), { displayName });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      displayName,
      members: toRefs(jane),
      [ROLES]: { roles: [{ value: 'Editor' }] },
    });
    expect(body).not.toHaveProperty('externalId');
    expect((await scim.put(pathOf(group), { displayName, members: [] })).body).not.toHaveProperty('members');
  });

  test('with the response of GET changes nothing', async () => {
    const group = await aGroup({ externalId: 'same', members: toRefs(jane, john) });
    const before = await scim.get(pathOf(group));
    const answer = await scim.put(pathOf(group), before.body);
    expect([answer.status, answer.body, answer.headers['etag']]).toEqual([200, before.body, 'W/"1"']);
  });

  test('replaces the members unless If-Match is outdated', async () => {
    const group = await aGroup({ members: toRefs(jane) });
    const put = (tag: string) =>
      scim.put(pathOf(group), { displayName: group.displayName, members: toRefs(john) }, { 'if-match': tag });
    expect(errorOf(await put('W/"9"'))[0]).toBe(412);
    expect((await put('"1"')).status).toBe(200);
    expect(await readMembers(group)).toEqual([john]);
  });

  test('requires displayName except from midPoint', async () => {
    const group = await aGroup({ externalId: 'mid', members: toRefs(jane) });
    expect(errorOf(await scim.put(pathOf(group), {}))).toEqual([
      400,
      'invalidValue',
      expect.stringContaining('displayName'),
    ]);
    expect((await scim.put(pathOf(group), { ...group, id: UNKNOWN })).status).toBe(400);
    const midpoint = await createScimClient(app, { profile: 'midpoint' });
    const { body } = await midpoint.put(pathOf(group), { members: toRefs(john) });
    expect(body).toMatchObject({ displayName: group.displayName, externalId: 'mid', members: toRefs(john) });
  });
});

test('DELETE /Groups/{id} deletes the group unless If-Match is outdated', async () => {
  const group = await aGroup({ members: toRefs(jane) });
  expect((await scim.delete(pathOf(group), { 'if-match': 'W/"7"' })).status).toBe(412);
  expect((await scim.delete(pathOf(group), { 'if-match': 'W/"1"' })).status).toBe(204);
  expect((await scim.delete(pathOf(group))).status).toBe(404);
  await aGroup({ displayName: group.displayName });
});

describe('a SCIM client without the webmasters scope', () => {
  test('cannot change a group that gives the role Webmaster', async () => {
    const scopes = ['groups:read', 'groups:write', 'users:read', 'users:write'];
    const narrow = await createScimClient(app, { scopes });
    // Users of an identity provider, because this key does not see local operators as members.
    const webmaster = (await create(app.key, { roles: ['Webmaster'], external_id: 'W' })).uuid as string;
    const member = (await create(app.key, { external_id: 'M' })).uuid as string;
    const buildGroup = (role: string) => ({ members: toRefs(member), [ROLES]: { roles: [{ value: role }] } });
    const group = await aGroup(buildGroup('Webmaster'));
    await aGroup(buildGroup('Webmaster')); // a member of both groups, so removing one membership changes no role
    const taken = await aGroup();
    const add = (id: string) => ({ op: 'add', path: 'members', value: toRefs(id) });
    const refused = [
      await narrow.patch(pathOf(group), {
        op: 'replace',
        path: `${ROLES}:roles`,
        value: [{ value: 'Editor' }],
      }),
      await narrow.patch(pathOf(group), add(john)),
      await narrow.patch(pathOf(group), { op: 'remove', path: `members[value eq "${member}"]` }),
      await narrow.delete(pathOf(group)),
      await narrow.delete(pathOf(await aGroup({ ...buildGroup('Webmaster'), members: [] }))),
      await narrow.delete(`/Users/${member}`),
      await narrow.patch(pathOf(group), { op: 'replace', path: 'displayName', value: aName() }),
      await narrow.patch(pathOf(group), { op: 'replace', path: 'externalId', value: aName() }),
      await narrow.patch(pathOf(group), { op: 'replace', path: 'displayName', value: taken.displayName }),
      await narrow.post('/Groups', { displayName: aName(), ...buildGroup('Editor') }),
      await narrow.patch(pathOf(await aGroup(buildGroup('Editor'))), add(webmaster)),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect((await narrow.put(pathOf(group), group)).status).toBe(200);
    const data = { Operations: [{ op: 'replace', path: 'displayName', value: aName() }] };
    const bulk = await sendBulk(narrow, [{ method: 'PATCH', path: pathOf(group), data }]);
    expect(bulk.body.Operations).toMatchObject([{ status: '403' }]);
    expect((await scim.get(pathOf(group))).body).toEqual(group);
    expect((await narrow.patch(pathOf(await aGroup()), add(webmaster))).body.members).toHaveLength(1);
  });

  test('cannot see or remove local Webmasters', async () => {
    const narrow = await createScimClient(app, { scopes: ['groups:read', 'groups:write'] });
    const operator = (await create(app.key, { roles: ['Webmaster'] })).uuid as string;
    const group = await aGroup({ members: toRefs(operator, jane) });
    const readGroups = async (query = '') => (await narrow.get(`/Groups${query}`)).body;
    expect((await narrow.get(pathOf(group))).body.members).toHaveLength(1);
    expect((await readGroups(`?filter=members.value%20eq%20"${operator}"`)).totalResults).toBe(0);
    await narrow.put(pathOf(group), { displayName: group.displayName, members: toRefs(john) });
    expect(await readMembers(group)).toEqual([john, operator].sort());
    await narrow.patch(pathOf(group), { op: 'remove', path: `members[value eq "${operator}"]` });
    expect(await readMembers(group)).toEqual([john, operator].sort());
    expect(await readMembers(await aGroup({ members: toRefs(operator) }, narrow))).toEqual([]);
  });
});
