import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { type ScimClient, errorOf, provision, createScimClient, scimOf } from '../support/app/scim.js';
import { walkByCursor, walkByIndex } from '../support/app/scim-lists.js';

/** Searches of the SCIM root, which list users and groups together. */
const app = setUpApp();
let scim: ScimClient;
const all: string[] = [];
beforeAll(async () => {
  scim = scimOf(app);
  for (let n = 0; n < 4; n++) await provision(scim, { displayName: `D${n}`, title: 'x' });
  for (let n = 0; n < 5; n++) await scim.post('/Groups', { displayName: `D${n}` });
  for (const path of ['/Users', '/Groups'])
    all.push(...(await scim.get(`${path}?count=200`)).body.Resources.map(({ id }: Json) => id));
});

const idsOf = (resources: Json[]): string[] => resources.map(({ id }) => id);
const readIds = ({ Resources }: Json): string[] => idsOf(Resources);

test('a SCIM root search lists users before groups', async () => {
  expect(all).toHaveLength(10);
  for (const count of [1, 3, 4, 5, 7, 10, 200]) {
    expect(idsOf(await walkByIndex(scim, '', { count }))).toEqual(all);
    expect(idsOf(await walkByCursor(scim, '', { count }))).toEqual(all);
  }
  expect((await scim.get('?startIndex=99')).body).toMatchObject({ totalResults: 10, Resources: [] });
  expect(errorOf(await scim.get('?cursor=nix')).slice(0, 2)).toEqual([400, 'invalidCursor']);
});

test('a SCIM root search filters by resource type and by attribute', async () => {
  const find = async (filter: string): Promise<Json> => (await scim.post('/.search', { filter })).body;
  expect(readIds(await find('meta.resourceType eq "User"'))).toEqual(all.slice(0, 5));
  expect(readIds(await find('meta.resourceType eq "Group"'))).toEqual(all.slice(5));
  expect(readIds(await find('title eq "x"'))).toEqual(all.slice(1, 5));
  expect(await find('displayName eq "d1"')).toMatchObject({ totalResults: 2 });
  expect(errorOf(await scim.post('/.search', { filter: 'nix pr' })).slice(0, 2)).toEqual([
    400,
    'invalidFilter',
  ]);
});

test('a SCIM root search respects the scopes of the API key', async () => {
  const users = await createScimClient(app, { scopes: ['users:read', 'webmasters'] });
  const groups = await createScimClient(app, { scopes: ['groups:read'] });
  expect(readIds((await users.get('')).body)).toEqual(all.slice(0, 5));
  expect(readIds((await groups.get('')).body)).toEqual(all.slice(5));
  const neither = await createScimClient(app, { scopes: ['audit:read'] });
  expect((await neither.get('')).status).toBe(403);
});
