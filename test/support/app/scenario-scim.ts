import type { TestApp } from './app.js';
import type { Answer } from './client.js';
import { ok } from './scenario.js';
import { ENTERPRISE, provision, scimAs, scimOf } from './scim.js';
import { seededUser, seededUuid } from './seed.js';

const { username, email } = seededUser(500);
const FILTERS = [
  '',
  `id eq "${seededUuid(500)}"`,
  `userName eq "${username}"`,
  `userName sw "${username.slice(0, 6)}"`,
  `userName gt "${username}" and userName le "${seededUser(510).username}"`,
  `externalId eq "HR-0000500"`,
  `emails eq "${email}"`,
  `emails[type eq "work"].value eq "${email}"`,
  'meta.created gt "2025-12-31T00:00:00Z"',
  'meta.lastModified ge "2025-12-31T00:00:00Z"',
  'displayName eq "scenario"',
  `${ENTERPRISE}:employeeNumber sw "scen"`,
  'active eq false',
  'roles.value eq "Editor"',
  `${ENTERPRISE}:manager.value eq "${seededUuid(3)}"`,
  `groups.value eq "${seededUuid(500_007)}"`,
  'name.givenName eq "zebra"',
  'name.familyName sw "zebra"',
  `userName eq "${username}" or externalId eq "HR-0000501"`,
  `userName eq "${username}" and title pr`,
  'meta.resourceType eq "User"',
  'meta.resourceType eq "User" or active eq false',
  'roles.value eq "nobody has it"',
];
const SORTS = [
  '',
  'id',
  'userName',
  'externalId',
  'emails',
  'name.givenName',
  'name.familyName',
  'meta.lastModified',
  'displayName',
];

/** Users of SCIM are found in every order by every kind of filter, made, changed and deleted; by keys that see operators or not. */
export async function liveInScim(app: TestApp): Promise<void> {
  const narrow = await scimAs(app, { scopes: ['users:read'] });
  for (const scim of [scimOf(app), narrow])
    for (const filter of FILTERS)
      for (const sortBy of SORTS)
        for (const sortOrder of ['ascending', 'descending']) {
          const query = { ...(filter && { filter }), ...(sortBy && { sortBy }), sortOrder, count: '2' };
          const list = (more: Record<string, string>): Promise<Answer> =>
            ok(scim.get(`/Users?${new URLSearchParams({ ...query, ...more }).toString()}`));
          await list({ startIndex: '2' });
          const { nextCursor } = (await list({ cursor: '' })).body;
          if (nextCursor) await list({ cursor: nextCursor as string });
        }
  const scim = scimOf(app);
  const { id } = await provision(scim, {
    displayName: 'scenario',
    [ENTERPRISE]: { employeeNumber: 'scen-1', manager: { value: seededUuid(3) } },
  });
  await ok(scim.patch(`/Users/${id as string}`, { op: 'remove', path: `${ENTERPRISE}:manager` }));
  await ok(scim.get(`/Users/${id as string}?attributes=groups`));
  await ok(scim.delete(`/Users/${id as string}`), 204);
}
