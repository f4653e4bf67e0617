import { MemberChange } from '../../../src/groups/member-change.js';
import { insertRows } from '../../../src/platform/database/engine/sql.js';
import { GroupMemberEntity } from '../../../src/groups/group.entity.js';
import type { TestApp } from './app.js';
import { SYSTEM, aGroup, groupsOf, editMembers, seedGroups } from './groups.js';
import { databaseOf } from './people.js';
import { check } from './scenario.js';
import { readPages } from './scenario-scim.js';
import { createScimClient, scimOf } from './scim.js';
import { nextOf } from './search.js';
import { seededUuid, seededUuids } from './seed.js';

const GROUPS = 3000;
const LARGE = 12_000;

/** Inserts many small groups and one large group. Returns the UUID of the large group. */
async function seedGroupMembers(app: TestApp): Promise<string> {
  const groups = await seedGroups(app, GROUPS, 500_000);
  const memberships = groups.map((group_uuid, n) => ({ group_uuid, user_uuid: seededUuid(n) }));
  await insertRows(databaseOf(app), GroupMemberEntity, memberships);
  return (await aGroup(app, { display_name: 'Large', members: seededUuids(0, LARGE) })).uuid;
}

/** Lists groups in every order. Then reads and changes groups and their members, and deletes a group. */
export async function exerciseGroups(app: TestApp): Promise<void> {
  const { key } = app;
  const large = await seedGroupMembers(app);
  for (const filter of ['', '&display_name=seeded+7', '&external_id=seeded-7', `&user_uuid=${seededUuid(7)}`])
    for (const sort of ['display_name', 'created', 'updated'])
      for (const order of ['asc', 'desc']) {
        const next = nextOf(
          await check(key.get(`/groups?limit=1&offset=1&sort=${sort}&order=${order}${filter}`)),
        );
        if (next) await check(key.get(next));
      }
  const first = await check(key.get(`/groups/${large}?limit=5`));
  await check(key.get(nextOf(first) ?? ''));
  await editMembers(app, { uuid: large }, { add: [seededUuid(LARGE)], remove: [seededUuid(1)] });
  await editMembers(
    app,
    { uuid: large },
    { add: [...seededUuids(LARGE, LARGE + 12), large.replace(/^./, 'f')] },
  );
  await editMembers(app, { uuid: large }, { remove: seededUuids(20, 40) });
  const small = await aGroup(app, { external_id: 'small', members: seededUuids(0, 12) });
  await check(key.put(`/groups/${small.uuid}`, { roles: ['Editor'] }));
  await groupsOf(app).change(
    small.uuid,
    { toFields: () => ({}), toMembers: () => MemberChange.createReplacement(seededUuids(6, 30)) },
    SYSTEM,
  );
  await groupsOf(app).change(
    small.uuid,
    { toFields: () => ({ display_name: 'Renamed', external_id: 'x' }) },
    SYSTEM,
  );
  const one = [{ value: seededUuid(31) }];
  await check(scimOf(app).patch(`/Groups/${small.uuid}`, { op: 'add', path: 'members', value: one }));
  await findGroups(app);
  await groupsOf(app).delete(small.uuid, undefined, SYSTEM);
}

/** Lists SCIM groups with filters that use an index and filters that do not, in every order. */
async function findGroups(app: TestApp): Promise<void> {
  const narrow = await createScimClient(app, { scopes: ['groups:read'] });
  const filters = [
    'id pr',
    'displayName eq "renamed"',
    'displayName sw "seeded 10"',
    'externalId eq "x"',
    'externalId gt "seeded-99"',
    `id eq "${seededUuid(500_007)}"`,
    `members.value eq "${seededUuid(7)}"`,
    `members[value eq "${seededUuid(7)}"] or displayName eq "renamed"`,
    'displayName sw "seeded 10" and displayName co "1"',
    'displayName sw "seeded 10" and members pr',
  ];
  const walk = (query: Record<string, string>) =>
    readPages(narrow, '/Groups', { ...query, excludedAttributes: 'members' });
  for (const filter of filters) await walk({ filter });
  for (const sortBy of ['id', 'displayName', 'externalId', 'meta.created', 'meta.lastModified'])
    for (const sortOrder of ['ascending', 'descending']) await walk({ sortBy, sortOrder });
  await check(narrow.get('/Groups?filter=displayName%20sw%20%22seeded%2010%22'));
}
