import { beforeEach, describe, expect, test, beforeAll } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { SYSTEM, aGroup, groupsOf, editMembers } from '../support/app/groups.js';
import { databaseOf } from '../support/app/people.js';
import { seedUsers, seededUuid, seededUuids } from '../support/app/seed.js';
import { search } from '../support/app/search.js';
import type { Group } from '../../src/groups/group.js';
import { MAX_MEMBERS_PER_EVENT } from '../../src/groups/group-writer.service.js';
import { listEvents } from '../support/app/audit-rows.js';

/** Members have the roles of their groups in addition to direct roles, from the start to the end of the membership. */
const app = setUpApp();
/** Number of users who are members of large groups. */
const SIZE = 1100;
beforeAll(() => seedUsers(app, 0, SIZE));

let jane: Json;
let john: Json;
beforeEach(async () => {
  [jane, john] = [await create(app.key), await create(app.key)];
});

const readRoles = async ({ uuid }: Json): Promise<string[]> =>
  (await app.key.get(`/users/${uuid}`)).body.group_roles;
const readVersion = async ({ uuid }: Json): Promise<string> =>
  (await app.key.get(`/users/${uuid}`)).headers['etag'] ?? '';
const createGroup = (roles: string[], ...members: Json[]): Promise<Group> =>
  aGroup(app, { roles, members: members.map(({ uuid }) => uuid as string) });
const setRoles = (group: Group, roles: string[]) =>
  groupsOf(app).change(group.uuid, { toFields: () => ({ roles }) }, SYSTEM);
const toProblem = (error: unknown) => error as { code: string; detail: string };
const catchError = (work: Promise<unknown>) => work.then(() => 'no failure', toProblem);

describe('a group member', () => {
  test('loses the group roles with the membership', async () => {
    const group = await createGroup(['Editor', 'Author'], jane);
    expect(await readRoles(jane)).toEqual(['Author', 'Editor']);
    await editMembers(app, group, { add: [john.uuid], remove: [jane.uuid] });
    expect(await readRoles(jane)).toEqual([]);
    expect(await readRoles(john)).toEqual(['Author', 'Editor']);
  });

  test('keeps a role that another joined group has', async () => {
    const one = await createGroup(['Editor', 'Author'], jane);
    const other = await createGroup(['Editor', 'Blogger'], jane);
    expect(await readRoles(jane)).toEqual(['Author', 'Blogger', 'Editor']);
    await editMembers(app, one, { remove: [jane.uuid] });
    expect(await readRoles(jane)).toEqual(['Blogger', 'Editor']);
    await groupsOf(app).delete(other.uuid, undefined, SYSTEM);
    expect(await readRoles(jane)).toEqual([]);
  });

  test('keeps direct roles if the group loses these roles', async () => {
    const group = await createGroup([], jane, john);
    await app.key.put(`/users/${john.uuid}`, { roles: ['Editor'] });
    await setRoles(group, ['Editor']);
    expect(await readRoles(jane)).toEqual(['Editor']);
    expect(await readRoles(john)).toEqual(['Editor']);
    await setRoles(group, []);
    expect({ jane: await readRoles(jane), john: await readRoles(john) }).toEqual({ jane: [], john: [] });
    expect((await app.key.get(`/users/${john.uuid}`)).body.roles).toEqual(['Editor']);
  });

  test('keeps the ETag if a membership change affects no role', async () => {
    const other = await createGroup(['Editor'], jane);
    const before = await readVersion(jane);
    await editMembers(app, await createGroup([], jane), { remove: [jane.uuid] });
    await createGroup(['Editor'], jane);
    expect(await readVersion(jane)).toBe(before);
    await editMembers(app, other, { remove: [jane.uuid] });
    expect(await readVersion(jane)).toBe(before);
  });

  test('keeps the membership and the group roles while blocked', async () => {
    const group = await createGroup(['Editor'], jane);
    await app.key.put(`/users/${jane.uuid}`, { status: 'Blocked' });
    expect((await app.key.get(`/groups/${group.uuid}`)).body.members).toEqual([jane.uuid]);
    expect(await readRoles(jane)).toEqual(['Editor']);
  });
});

describe('a role conflict', () => {
  test('prevents a user from joining a group', async () => {
    const group = await createGroup(['External user']);
    const error = await catchError(editMembers(app, group, { add: [jane.uuid] }));
    expect(error).toMatchObject({ code: 'validation_failed' });
    expect(toProblem(error).detail).toContain(jane.uuid);
    expect((await app.key.get(`/groups/${group.uuid}`)).body.members).toEqual([]);
    expect(await readRoles(jane)).toEqual([]);
  });

  test('prevents a group from getting a role', async () => {
    const group = await createGroup([], jane);
    expect(await catchError(setRoles(group, ['External user']))).toMatchObject({
      code: 'validation_failed',
      extras: { errors: [{ field: 'roles', code: 'exclusive_roles' }] },
    });
    expect((await app.key.get(`/groups/${group.uuid}`)).body.roles).toEqual([]);
  });
});

describe('the last Webmaster by group role', () => {
  test('cannot lose the role or be blocked', async () => {
    const group = await createGroup(['Webmaster'], jane);
    const { body } = await search(app.key, { username: 'admin' });
    const admin = body.Results[0].uuid as string;
    await app.key.put(`/users/${admin}`, { roles: ['Editor'] });
    const last = { code: 'last_webmaster' };
    try {
      expect(await catchError(editMembers(app, group, { remove: [jane.uuid] }))).toMatchObject(last);
      expect(await catchError(setRoles(group, []))).toMatchObject(last);
      expect(await catchError(groupsOf(app).delete(group.uuid, undefined, SYSTEM))).toMatchObject(last);
      expect((await app.key.put(`/users/${jane.uuid}`, { status: 'Blocked' })).body).toMatchObject(last);
      await editMembers(app, group, { add: [john.uuid] });
      await editMembers(app, group, { remove: [jane.uuid] });
    } finally {
      await app.key.put(`/users/${admin}`, { roles: ['Webmaster'] });
    }
  });
});

describe('concurrent group changes', () => {
  test('give a user the roles of both groups', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await createGroup(['Editor']), await createGroup(['Author'])];
      await Promise.all([one, other].map((group) => editMembers(app, group, { add: [jane.uuid] })));
      expect(await readRoles(jane)).toEqual(['Author', 'Editor']);
      await Promise.all([one, other].map((group) => editMembers(app, group, { remove: [jane.uuid] })));
      expect(await readRoles(jane)).toEqual([]);
    }
  });

  test('give a new member the new roles of the group', async () => {
    const group = await createGroup([]);
    await Promise.all([setRoles(group, ['Editor']), editMembers(app, group, { add: [jane.uuid] })]);
    expect(await readRoles(jane)).toEqual(['Editor']);
  });

  test('never add a member to a deleted group', async () => {
    const group = await createGroup(['Editor']);
    await Promise.allSettled([
      groupsOf(app).delete(group.uuid, undefined, SYSTEM),
      editMembers(app, group, { add: [jane.uuid] }),
    ]);
    expect((await app.key.get(`/groups/${group.uuid}`)).status).toBe(404);
    expect(await readRoles(jane)).toEqual([]);
    const left = 'SELECT user_uuid FROM group_members WHERE group_uuid = ?';
    expect(await databaseOf(app).query(left, [group.uuid])).toEqual([]);
  });
});

test('a new group role applies to all 1,100 members', async () => {
  const members = seededUuids(0, SIZE);
  const group = await aGroup(app, { members });
  const countBloggers = async () => (await search(app.key, { role: 'Blogger', limit: 1 })).body.Count;
  await setRoles(group, ['Blogger']);
  expect(await countBloggers()).toBe(SIZE);
  await editMembers(app, group, { remove: members.slice(0, 600) });
  expect(await countBloggers()).toBe(SIZE - 600);
  await groupsOf(app).delete(group.uuid, undefined, SYSTEM);
  expect(await countBloggers()).toBe(0);
});

describe('the group audit', () => {
  test('shows removed members as old and added members as new', async () => {
    const group = await aGroup(app, { members: seededUuids(0, 2) });
    await editMembers(app, group, { add: [seededUuid(5)], remove: [seededUuid(1), seededUuid(9)] });
    await editMembers(app, group, { add: [seededUuid(5), UNKNOWN] });
    await groupsOf(app).delete(group.uuid, undefined, SYSTEM);
    const [created, moved, last, ...more] = await listEvents(app.key, group);
    expect(more).toEqual([]);
    const name = expect.objectContaining({ field: 'display_name' });
    expect(created).toMatchObject({
      action: 'group.created',
      changes: [name, { field: 'members', new: seededUuids(0, 2) }],
    });
    expect(moved).toMatchObject({
      action: 'group.updated',
      changes: [{ old: [seededUuid(1)], new: [seededUuid(5)] }],
    });
    expect(last).toMatchObject({ action: 'group.deleted', target: { kind: 'group', id: group.uuid } });
    expect(last.changes.at(-1)).toEqual({ field: 'members', old: [seededUuid(0), seededUuid(5)], new: null });
  });

  test('splits a change of many members into several events', async () => {
    const group = await aGroup(app, { members: seededUuids(0, SIZE) });
    const sizes = (await listEvents(app.key, group)).map(({ changes }) => changes.at(-1).new.length);
    expect(sizes).toEqual([MAX_MEMBERS_PER_EVENT, MAX_MEMBERS_PER_EVENT, SIZE - 2 * MAX_MEMBERS_PER_EVENT]);
  });
});

test('group names must be unique regardless of case', async () => {
  await aGroup(app, { display_name: 'Straße', external_id: 'X' });
  await expect(aGroup(app, { display_name: ' STRASSE' })).rejects.toMatchObject({
    code: 'display_name_taken',
  });
  await expect(aGroup(app, { external_id: 'X' })).rejects.toMatchObject({ code: 'external_id_taken' });
  await aGroup(app, { external_id: 'x' });
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, () => aGroup(app, { display_name: 'One of twenty' })),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of made)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'display_name_taken' });
});
