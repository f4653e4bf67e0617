import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_LISTED } from '../../src/scim/groups/group-writer.service.js';
import { TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { SYSTEM, aGroup, groupsOf, move } from '../support/app/groups.js';
import { eventsAbout } from '../support/app/audit-rows.js';
import { seedUsers, seededUuid, seededUuids } from '../support/app/seed.js';

/** What the writer of groups refuses, and what the audit keeps of a change. */
const SIZE = 1100;
const UNKNOWN = '00000000-0000-4000-8000-00000000dead';
let app: TestApp;
let key: Client;
beforeAll(async () => {
  app = await TestApp.start();
  ({ key } = app);
  await seedUsers(app, 0, SIZE);
});
afterAll(() => app.end());

const eventsOf = (target: { uuid: string }): Promise<Json[]> => eventsAbout(key, target);

describe('who may decide about members of a group that makes Webmasters', () => {
  test('is not a key without the scope, whether a union changes or not', async () => {
    const [jane, john] = [await create(key), await create(key, { roles: ['Webmaster'] })];
    const group = await aGroup(app, { roles: ['Webmaster'], members: [jane.uuid] });
    const { id } = (await key.post('/api_keys', { name: 'scim', scopes: ['groups:write'] })).body;
    const rights = { scopes: ['groups:write'] as const, networks: null, expires: null };
    const actor = { kind: 'key' as const, id, rights, family: id, ignoresUnknownFields: false };
    const caller = { ...SYSTEM, actor: { ...actor, profile: 'standard' as const } };
    const refused = { code: 'insufficient_scope' };
    await expect(move(app, group, { add: [john.uuid] }, caller)).rejects.toMatchObject(refused);
    await expect(move(app, group, { remove: [jane.uuid] }, caller)).rejects.toMatchObject(refused);
    await expect(groupsOf(app).delete(group.uuid, undefined, caller)).rejects.toMatchObject(refused);
    // Of both groups: the union stays, and the writer of users is not asked.
    const both = await aGroup(app, { roles: ['Webmaster'], members: [jane.uuid] });
    await expect(move(app, both, { remove: [jane.uuid] }, caller)).rejects.toMatchObject(refused);
    await expect(aGroup(app, { roles: ['Editor'] }, caller)).rejects.toMatchObject(refused);
    const other = await aGroup(app, { roles: ['Editor'] });
    await expect(move(app, other, { add: [john.uuid] }, caller)).rejects.toMatchObject(refused);
    const plain = await aGroup(app);
    expect((await move(app, plain, { add: [john.uuid] }, caller)).version).toBe(2);
  });
});

describe('the audit of members', () => {
  test('has those who are gone as old and those who came as new', async () => {
    const group = await aGroup(app, { members: seededUuids(0, 2) });
    await move(app, group, { add: [seededUuid(5)], remove: [seededUuid(1), seededUuid(9)] });
    await move(app, group, { add: [seededUuid(5), UNKNOWN] });
    await groupsOf(app).delete(group.uuid, undefined, SYSTEM);
    const [made, moved, gone, ...more] = await eventsOf(group);
    expect(more).toEqual([]);
    const name = expect.objectContaining({ field: 'display_name' });
    expect(made).toMatchObject({
      action: 'group.created',
      changes: [name, { field: 'members', new: seededUuids(0, 2) }],
    });
    expect(moved).toMatchObject({
      action: 'group.updated',
      changes: [{ old: [seededUuid(1)], new: [seededUuid(5)] }],
    });
    expect(gone).toMatchObject({ action: 'group.deleted', target: { kind: 'group', id: group.uuid } });
    expect(gone.changes.at(-1)).toEqual({ field: 'members', old: [seededUuid(0), seededUuid(5)], new: null });
  });

  test('is bounded: many members are several rows', async () => {
    const group = await aGroup(app, { members: seededUuids(0, SIZE) });
    const sizes = (await eventsOf(group)).map(({ changes }) => changes.at(-1).new.length);
    expect(sizes).toEqual([MAX_LISTED, MAX_LISTED, SIZE - 2 * MAX_LISTED]);
  });
});

describe('members', () => {
  test('ids of nobody are left out, twice is once, a group is refused', async () => {
    const group = await aGroup(app, {
      members: [seededUuid(1), seededUuid(1).toUpperCase(), UNKNOWN, 'no uuid'],
    });
    expect((await key.get(`/groups/${group.uuid}`)).body.members).toEqual([seededUuid(1)]);
    const other = await aGroup(app);
    await expect(move(app, group, { add: [other.uuid] })).rejects.toMatchObject({
      code: 'validation_failed',
      extras: { errors: [{ field: 'members', code: 'invalid_value' }] },
    });
    const same = await move(app, group, { add: [seededUuid(1), UNKNOWN], remove: [seededUuid(2)] });
    expect(same.version).toBe(1);
  });

  test('a name belongs to one group in any case, an external id exactly', async () => {
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
});
