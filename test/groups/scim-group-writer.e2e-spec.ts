import { beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_MEMBERS_PER_EVENT } from '../../src/groups/group-writer.service.js';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { SYSTEM, aGroup, groupsOf, editMembers } from '../support/app/groups.js';
import { listEvents } from '../support/app/audit-rows.js';
import { seedUsers, seededUuid, seededUuids } from '../support/app/seed.js';

/** Group changes that are refused, and the audit events of group changes. */
const SIZE = 1100;
const UNKNOWN = '00000000-0000-4000-8000-00000000dead';
const app = setUpApp();
beforeAll(() => seedUsers(app, 0, SIZE));

const readEvents = (target: { uuid: string }): Promise<Json[]> => listEvents(app.key, target);

describe('the group audit', () => {
  test('shows removed members as old and added members as new', async () => {
    const group = await aGroup(app, { members: seededUuids(0, 2) });
    await editMembers(app, group, { add: [seededUuid(5)], remove: [seededUuid(1), seededUuid(9)] });
    await editMembers(app, group, { add: [seededUuid(5), UNKNOWN] });
    await groupsOf(app).delete(group.uuid, undefined, SYSTEM);
    const [created, moved, last, ...more] = await readEvents(group);
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
    const sizes = (await readEvents(group)).map(({ changes }) => changes.at(-1).new.length);
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
