import type { TestApp } from './app.js';
import { check } from './scenario.js';
import { fetchList } from './scim-lists.js';
import { ENTERPRISE, type ScimClient, provision, createScimClient, scimOf } from './scim.js';
import type { Query } from './search.js';
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
  'roles.value eq "unassigned"',
];
const SORTS =
  ' id userName externalId emails name.givenName name.familyName meta.lastModified displayName'.split(' ');

/** Reads one page of a list by index and two pages by cursor. */
export async function readPages(scim: ScimClient, path: string, query: Query): Promise<void> {
  const list = (more: Query) => fetchList(scim, path, { ...query, count: 2, ...more });
  await list({ startIndex: 2 });
  const { nextCursor } = await list({ cursor: '' });
  if (nextCursor) await list({ cursor: nextCursor as string });
}

/**
 * Finds SCIM users with every kind of filter in every order, by a full key and a key with one scope. Then creates,
 * changes and deletes a user.
 */
export async function exerciseScim(app: TestApp): Promise<void> {
  for (const scim of [scimOf(app), await createScimClient(app, { scopes: ['users:read'] })])
    for (const filter of FILTERS)
      for (const sortBy of SORTS)
        for (const sortOrder of ['ascending', 'descending'])
          await readPages(scim, '/Users', {
            ...(filter && { filter }),
            ...(sortBy && { sortBy }),
            sortOrder,
          });
  const scim = scimOf(app);
  const { id } = await provision(scim, {
    displayName: 'scenario',
    [ENTERPRISE]: { employeeNumber: 'scen-1', manager: { value: seededUuid(3) } },
  });
  await check(scim.patch(`/Users/${id as string}`, { op: 'remove', path: `${ENTERPRISE}:manager` }));
  await check(scim.get(`/Users/${id as string}?attributes=groups`));
  await check(scim.delete(`/Users/${id as string}`), 204);
}
