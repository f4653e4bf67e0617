import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { GroupMemberEntity } from '../../src/groups/group.entity.js';
import { TestApp } from '../support/app/app.js';
import { effortOf } from '../support/app/effort.js';
import { aGroup } from '../support/app/groups.js';
import { databaseOf } from '../support/app/people.js';
import { ok } from '../support/app/scenario.js';
import { type ScimClient, scimAs } from '../support/app/scim.js';
import { refreshStatistics, seedUsers, seededUuid } from '../support/app/seed.js';

/** A member more or less costs the same in a group of forty and of a hundred thousand (scim.md, section 12). */
const FEW = 40;
const MANY = 100_000;
const USERS = 200;
const RATIO = 1.5;

jest.setTimeout(120_000);
let app: TestApp;
let scim: ScimClient;
let large: string;
let small: string;
let next = 0;
let used = 0;

beforeAll(async () => {
  app = await TestApp.start({ DATABASE_POOL_SIZE: '1' });
  scim = await scimAs(app, { profile: 'entra' });
  await seedUsers(app, 0, USERS);
  [small, large] = [(await aGroup(app)).uuid, (await aGroup(app)).uuid];
  const memberships = (group_uuid: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ group_uuid, user_uuid: seededUuid(1000 + n) }));
  await insertRows(databaseOf(app), GroupMemberEntity, [
    ...memberships(small, FEW),
    ...memberships(large, MANY),
  ]);
  await refreshStatistics(app);
});
afterAll(() => app.end());

const patch = (group: string, operation: object) => ok(scim.patch(`/Groups/${group}`, operation), 204);
/** Each time another user, who is no member of either group. */
const somebody = () => seededUuid(next++ % USERS);
/** Each time another member. */
const member = (group: string) => seededUuid(1000 + used++ + (group === small ? 0 : 50_000));

test.each<[string, (group: string) => Promise<unknown>]>([
  ['a member more', (group) => patch(group, { op: 'add', path: 'members', value: [{ value: somebody() }] })],
  [
    'a member less, by a path',
    (group) => patch(group, { op: 'remove', path: `members[value eq "${member(group)}"]` }),
  ],
  [
    'a member less, by a list',
    (group) => patch(group, { op: 'remove', path: 'members', value: [{ value: member(group) }] }),
  ],
  [
    'who is a member already',
    (group) => patch(group, { op: 'add', path: 'members', value: [{ value: member(group) }] }),
  ],
  ['a name', (group) => patch(group, { op: 'replace', path: 'displayName', value: `Name ${next++}` })],
  ['a group without its members', (group) => ok(scim.get(`/Groups/${group}?excludedAttributes=members`))],
  [
    'the groups of a user',
    (group) => ok(scim.get(`/Groups?filter=members.value+eq+"${member(group)}"&excludedAttributes=members`)),
  ],
])('%s', async (_, work) => {
  const efforts = [await effortOf(app, () => work(small)), await effortOf(app, () => work(large))];
  const [few = 0, many = 0] = efforts;
  expect({ efforts, grows: many > RATIO * few }).toEqual({ efforts, grows: false });
});
