import { beforeAll, expect, test } from '@jest/globals';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { GroupMemberEntity } from '../../src/groups/group.entity.js';
import { setUpApp } from '../support/app/app.js';
import { measureEffort } from '../support/app/effort.js';
import { aGroup } from '../support/app/groups.js';
import { databaseOf } from '../support/app/people.js';
import { check } from '../support/app/scenario.js';
import { type ScimClient, createScimClient } from '../support/app/scim.js';
import { refreshStatistics, seedUsers, seededUuid } from '../support/app/seed.js';

/** The cost of adding or removing a member does not depend on the size of the group. */
const FEW = 40;
const MANY = 100_000;
const USERS = 200;
const RATIO = 1.5;

const app = setUpApp({ DATABASE_POOL_SIZE: '1' });
let scim: ScimClient;
let large: string;
let small: string;
let next = 0;
let used = 0;

beforeAll(async () => {
  scim = await createScimClient(app, { profile: 'entra' });
  await seedUsers(app, 0, USERS);
  [small, large] = [(await aGroup(app)).uuid, (await aGroup(app)).uuid];
  const buildRows = (group_uuid: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ group_uuid, user_uuid: seededUuid(1000 + n) }));
  await insertRows(databaseOf(app), GroupMemberEntity, [...buildRows(small, FEW), ...buildRows(large, MANY)]);
  await refreshStatistics(app);
});

const patch = (group: string, operation: object) => check(scim.patch(`/Groups/${group}`, operation), 204);
/** Returns a different user on each call, who is not a member of either group. */
const pickNew = () => seededUuid(next++ % USERS);
/** Returns a different member of the group on each call. */
const pickOld = (group: string) => seededUuid(1000 + used++ + (group === small ? 0 : 50_000));

test.each<[string, (group: string) => Promise<unknown>]>([
  ['add a member', (group) => patch(group, { op: 'add', path: 'members', value: [{ value: pickNew() }] })],
  [
    'remove a member by a path',
    (group) => patch(group, { op: 'remove', path: `members[value eq "${pickOld(group)}"]` }),
  ],
  [
    'remove a member by a list',
    (group) => patch(group, { op: 'remove', path: 'members', value: [{ value: pickOld(group) }] }),
  ],
  [
    'add an existing member',
    (group) => patch(group, { op: 'add', path: 'members', value: [{ value: pickOld(group) }] }),
  ],
  ['rename', (group) => patch(group, { op: 'replace', path: 'displayName', value: `Name ${next++}` })],
  ['read without members', (group) => check(scim.get(`/Groups/${group}?excludedAttributes=members`))],
  [
    'list the groups of a user',
    (group) =>
      check(scim.get(`/Groups?filter=members.value+eq+"${pickOld(group)}"&excludedAttributes=members`)),
  ],
])('a group operation costs no more with 100,000 members: %s', async (_, work) => {
  const efforts = [await measureEffort(app, () => work(small)), await measureEffort(app, () => work(large))];
  const [few = 0, many = 0] = efforts;
  expect({ efforts, grows: many > RATIO * few }).toEqual({ efforts, grows: false });
});
