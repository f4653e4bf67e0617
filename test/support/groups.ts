import { GroupsService } from '../../src/scim/groups/groups.service.js';
import type { Group, GroupFields } from '../../src/scim/groups/group.js';
import { MemberChange } from '../../src/scim/groups/member-change.js';
import type { Caller } from '../../src/access/actor.js';
import type { TestApp } from './app.js';

/** The service itself, to which nothing is forbidden. */
export const SYSTEM: Caller = { actor: { kind: 'system', id: null }, requestId: 'test', ip: '127.0.0.1' };

export const groupsOf = ({ app }: TestApp): GroupsService => app.get(GroupsService);

let made = 0;
/** A new group. */
export async function aGroup(
  app: TestApp,
  { members = [], ...fields }: GroupFields & { members?: readonly string[] } = {},
  caller = SYSTEM,
): Promise<Group> {
  const names = { display_name: `Group ${++made}`, ...fields };
  return groupsOf(app).create(names, MemberChange.to(members), caller);
}

/** Adds and removes members. */
export async function move(
  app: TestApp,
  group: { uuid: string },
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
  caller = SYSTEM,
): Promise<Group> {
  const members = new MemberChange();
  members.add(add);
  members.remove(remove);
  return groupsOf(app).change(group.uuid, { fields: () => ({}), members: () => members }, caller);
}
