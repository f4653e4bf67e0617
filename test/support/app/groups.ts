import { GroupsService } from '../../../src/groups/groups.service.js';
import type { Group, GroupFields } from '../../../src/groups/group.js';
import { MemberChange } from '../../../src/groups/member-change.js';
import { now } from '../../../src/platform/common/time.js';
import { insertRows } from '../../../src/platform/database/engine/sql.js';
import { GroupEntity } from '../../../src/groups/group.entity.js';
import type { TestApp } from './app.js';
import { SYSTEM } from './deletion.js';
import { databaseOf } from './people.js';
import { seededUuid } from './seed.js';

export { SYSTEM };

export const groupsOf = ({ app }: TestApp): GroupsService => app.get(GroupsService);

let created = 0;
/** Creates a group with a new name. */
export async function aGroup(
  app: TestApp,
  { members = [], ...fields }: GroupFields & { members?: readonly string[] } = {},
): Promise<Group> {
  const names = { display_name: `Group ${++created}`, ...fields };
  return groupsOf(app).create(names, await MemberChange.createReplacement(members), SYSTEM);
}

/** Adds and removes members. */
export async function editMembers(
  app: TestApp,
  group: { uuid: string },
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<Group> {
  const members = new MemberChange();
  await members.add(add);
  await members.remove(remove);
  return groupsOf(app).change(group.uuid, { toFields: () => ({}), toMembers: () => members }, SYSTEM);
}

/** Creates, changes and deletes a group. Returns actor and target of the audit events. */
export async function aDeletedGroup(app: TestApp): Promise<{ actor: string; target: string }> {
  const { uuid } = await aGroup(app);
  await groupsOf(app).change(uuid, { toFields: () => ({ roles: ['Editor'] }) }, SYSTEM);
  await groupsOf(app).delete(uuid, undefined, SYSTEM);
  return { actor: 'system', target: uuid };
}

/** Inserts groups without checks and audit events. @returns their UUIDs. */
export async function seedGroups(app: TestApp, count: number, first: number): Promise<string[]> {
  const time = now();
  const groups = Array.from({ length: count }, (_, n) => ({
    uuid: seededUuid(first + n),
    display_name: `Seeded ${n}`,
    display_name_key: `seeded ${n}`,
    external_id: n % 2 ? `seeded-${n}` : null,
    roles: null,
    created: time,
    updated: time,
    version: 1,
  }));
  await insertRows(databaseOf(app), GroupEntity, groups);
  return groups.map(({ uuid }) => uuid);
}
