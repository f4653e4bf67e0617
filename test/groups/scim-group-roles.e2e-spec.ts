import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { SYSTEM, aGroup, groupsOf, move } from '../support/app/groups.js';
import { databaseOf } from '../support/app/people.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';
import { search } from '../support/app/search.js';
import type { Group } from '../../src/groups/group.js';

/** Members hold the roles of their groups beside their own, at once, for as long as they are members. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

let jane: Json;
let john: Json;
beforeEach(async () => {
  [jane, john] = [await create(app.key), await create(app.key)];
});

const rolesOf = async ({ uuid }: Json): Promise<string[]> =>
  (await app.key.get(`/users/${uuid}`)).body.group_roles;
const versionOf = async ({ uuid }: Json): Promise<string> =>
  (await app.key.get(`/users/${uuid}`)).headers['etag'] ?? '';
const withRoles = (roles: string[], ...members: Json[]): Promise<Group> =>
  aGroup(app, { roles, members: members.map(({ uuid }) => uuid as string) });
const setRoles = (group: Group, roles: string[]) =>
  groupsOf(app).change(group.uuid, { fields: () => ({ roles }) }, SYSTEM);
const problem = (error: unknown) => error as { code: string; detail: string };
const failure = (work: Promise<unknown>) => work.then(() => 'no failure', problem);

describe('a member', () => {
  test('gets the roles of a group and loses them with the membership', async () => {
    const group = await withRoles(['Editor', 'Author'], jane);
    expect(await rolesOf(jane)).toEqual(['Author', 'Editor']);
    await move(app, group, { add: [john.uuid], remove: [jane.uuid] });
    expect([await rolesOf(jane), await rolesOf(john)]).toEqual([[], ['Author', 'Editor']]);
  });

  test('has the union of all groups, and keeps what another group gives', async () => {
    const one = await withRoles(['Editor', 'Author'], jane);
    const other = await withRoles(['Editor', 'Blogger'], jane);
    expect(await rolesOf(jane)).toEqual(['Author', 'Blogger', 'Editor']);
    await move(app, one, { remove: [jane.uuid] });
    expect(await rolesOf(jane)).toEqual(['Blogger', 'Editor']);
    await groupsOf(app).delete(other.uuid, undefined, SYSTEM);
    expect(await rolesOf(jane)).toEqual([]);
  });

  test('follows the roles of the group, its own roles untouched', async () => {
    const group = await withRoles([], jane, john);
    await app.key.put(`/users/${john.uuid}`, { roles: ['Editor'] });
    await setRoles(group, ['Editor']);
    expect([await rolesOf(jane), await rolesOf(john)]).toEqual([['Editor'], ['Editor']]);
    await setRoles(group, []);
    expect([await rolesOf(jane), await rolesOf(john)]).toEqual([[], []]);
    expect((await app.key.get(`/users/${john.uuid}`)).body.roles).toEqual(['Editor']);
  });

  test('is not touched by a group without roles, nor where the union stays', async () => {
    const other = await withRoles(['Editor'], jane);
    const before = await versionOf(jane);
    const group = await withRoles([], jane);
    await move(app, group, { remove: [jane.uuid] });
    await withRoles(['Editor'], jane);
    expect(await versionOf(jane)).toBe(before);
    await move(app, other, { remove: [jane.uuid] });
    expect(await versionOf(jane)).toBe(before);
  });

  test('who is blocked stays one', async () => {
    const group = await withRoles(['Editor'], jane);
    await app.key.put(`/users/${jane.uuid}`, { status: 'Blocked' });
    expect((await app.key.get(`/groups/${group.uuid}`)).body.members).toEqual([jane.uuid]);
    expect(await rolesOf(jane)).toEqual(['Editor']);
  });
});

describe('a rule of users that a membership would break', () => {
  test('External user beside Organisational user names the member, and nothing is changed', async () => {
    const group = await withRoles(['External user']);
    const error = await failure(move(app, group, { add: [jane.uuid] }));
    expect(error).toMatchObject({ code: 'validation_failed' });
    expect(problem(error).detail).toContain(jane.uuid);
    expect((await app.key.get(`/groups/${group.uuid}`)).body.members).toEqual([]);
    expect(await rolesOf(jane)).toEqual([]);
  });

  test('the same for roles that are given to members', async () => {
    const group = await withRoles([], jane);
    const error = await failure(setRoles(group, ['External user']));
    expect(error).toMatchObject({
      code: 'validation_failed',
      extras: { errors: [{ field: 'roles', code: 'exclusive_roles' }] },
    });
    expect((await app.key.get(`/groups/${group.uuid}`)).body.roles).toEqual([]);
  });
});

describe('Webmasters by a group', () => {
  test('the last one may not go, whether by membership, roles or the end of the group', async () => {
    const group = await withRoles(['Webmaster'], jane);
    const { body } = await search(app.key, { username: 'admin' });
    const admin = body.Results[0].uuid as string;
    await app.key.put(`/users/${admin}`, { roles: ['Editor'] });
    const last = { code: 'last_webmaster' };
    try {
      expect(await failure(move(app, group, { remove: [jane.uuid] }))).toMatchObject(last);
      expect(await failure(setRoles(group, []))).toMatchObject(last);
      expect(await failure(groupsOf(app).delete(group.uuid, undefined, SYSTEM))).toMatchObject(last);
      expect((await app.key.put(`/users/${jane.uuid}`, { status: 'Blocked' })).body).toMatchObject(last);
      await move(app, group, { add: [john.uuid] });
      await move(app, group, { remove: [jane.uuid] });
    } finally {
      await app.key.put(`/users/${admin}`, { roles: ['Webmaster'] });
    }
  });
});

describe('two changes at once', () => {
  test('of the groups of one user: the roles of both stay', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await withRoles(['Editor']), await withRoles(['Author'])];
      await Promise.all([one, other].map((group) => move(app, group, { add: [jane.uuid] })));
      expect(await rolesOf(jane)).toEqual(['Author', 'Editor']);
      await Promise.all([one, other].map((group) => move(app, group, { remove: [jane.uuid] })));
      expect(await rolesOf(jane)).toEqual([]);
    }
  });

  test('the roles of a group and its members: nobody is left without them', async () => {
    const group = await withRoles([]);
    await Promise.all([setRoles(group, ['Editor']), move(app, group, { add: [jane.uuid] })]);
    expect(await rolesOf(jane)).toEqual(['Editor']);
  });

  test('a group that is deleted while a member is added leaves no membership', async () => {
    const group = await withRoles(['Editor']);
    await Promise.allSettled([
      groupsOf(app).delete(group.uuid, undefined, SYSTEM),
      move(app, group, { add: [jane.uuid] }),
    ]);
    expect((await app.key.get(`/groups/${group.uuid}`)).status).toBe(404);
    expect(await rolesOf(jane)).toEqual([]);
    const left = 'SELECT user_uuid FROM group_members WHERE group_uuid = ?';
    expect(await databaseOf(app).query(left, [group.uuid])).toEqual([]);
  });
});

test('a large group gives its roles to all members, in one change', async () => {
  const SIZE = 1100;
  await seedUsers(app, 0, SIZE);
  const members = Array.from({ length: SIZE }, (_, n) => seededUuid(n));
  const group = await aGroup(app, { members });
  const count = async () => (await search(app.key, { role: 'Blogger', limit: 1 })).body.Count;
  await setRoles(group, ['Blogger']);
  expect(await count()).toBe(SIZE);
  await move(app, group, { remove: members.slice(0, 600) });
  expect(await count()).toBe(SIZE - 600);
  await groupsOf(app).delete(group.uuid, undefined, SYSTEM);
  expect(await count()).toBe(0);
});
