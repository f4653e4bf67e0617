import { beforeAll, expect, test } from '@jest/globals';
import { generateApiKey } from '../../src/api-keys/api-keys.service.js';
import { SCOPES } from '../../src/access/actor.js';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { OPERATIONS } from '../support/app/operations.js';
import { ScimClient, SCIM, createScimClient, scimOf } from '../support/app/scim.js';
import { listServedRoutes } from '../support/app/served-routes.js';

/** The route of all methods that is always rejected, and therefore neither in the OpenAPI file nor listed as served. */
const ME = Object.fromEntries(
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [`${method} /Me`, 'any']),
);

/** The scope that each SCIM route needs. Routes with `any` accept every valid key. */
const TABLE: Readonly<Record<string, string>> = {
  'GET /ServiceProviderConfig': 'any',
  'GET /ResourceTypes': 'any',
  'GET /ResourceTypes/{type}': 'any',
  'GET /Schemas': 'any',
  'GET /Schemas/{urn}': 'any',
  'POST /Bulk': 'any',
  ...ME,
  'GET ': 'any',
  'POST /.search': 'any',
  ...routesOf('/Users', 'users'),
  ...routesOf('/Groups', 'groups'),
};

function routesOf(path: string, type: string): Record<string, string> {
  return {
    [`GET ${path}`]: `${type}:read`,
    [`POST ${path}/.search`]: `${type}:read`,
    [`POST ${path}`]: `${type}:write`,
    [`GET ${path}/{id}`]: `${type}:read`,
    [`PUT ${path}/{id}`]: `${type}:write`,
    [`PATCH ${path}/{id}`]: `${type}:write`,
    [`DELETE ${path}/{id}`]: `${type}:write`,
  };
}

const documented = OPERATIONS.filter(({ path }) => path.startsWith(SCIM)).map((operation) => [
  `${operation.method} ${operation.path.slice(SCIM.length)}`,
  operation['x-required-scope'],
]);

const app = setUpApp();
let session: Client;
const clients = new Map<string, ScimClient>();
beforeAll(async () => {
  session = await app.login();
  for (const scope of SCOPES) clients.set(scope, await createScimClient(app, { scopes: [scope] }));
});

test('the SCIM access tests cover every served SCIM route', () => {
  expect({ ...Object.fromEntries(documented), ...ME }).toEqual(TABLE);
  const served = listServedRoutes(app.app).filter((route) => route.includes(SCIM));
  const listed = documented.map(([route = '']) => route.replace(' ', ` ${SCIM}`));
  expect(new Set(served)).toEqual(new Set(listed));
});

const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead';
const send = (client: ScimClient, route: string) => {
  const [method = '', path = ''] = route.split(' ');
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined;
  return client.send(method, path.replace(/\{\w+\}/, UNKNOWN_ID), body);
};

const isSearchOfAllTypes = (route: string): boolean => ['GET ', 'POST /.search'].includes(route);

/** Returns true if a scope permits a route. A search over all types needs a scope that reads one of them. */
const isEnough = (route: string, needed: string, scope: string): boolean =>
  isSearchOfAllTypes(route)
    ? ['users:read', 'groups:read'].includes(scope)
    : needed === 'any' || needed === scope;

const CASES = Object.entries(TABLE).map(([route, needed]) => ({
  route,
  needed,
  shown: route.endsWith(' ') ? `${route}/` : route,
  scope: isSearchOfAllTypes(route) ? 'users:read or groups:read' : needed === 'any' ? 'any scope' : needed,
}));

test.each(CASES)('SCIM $shown needs an API key with $scope', async ({ route, needed }) => {
  const outside: [string, ScimClient][] = [
    ['no credentials', new ScimClient(() => app.guest)],
    ['an unknown key', scimOf(app, generateApiKey())],
    ['the session of a Webmaster', new ScimClient(() => session)],
  ];
  for (const [who, client] of outside) expect([who, (await send(client, route)).status]).toEqual([who, 401]);
  const full = (await send(scimOf(app), route)).status;
  expect([401, 403]).not.toContain(full);
  for (const [scope, client] of clients) {
    const { status, body } = await send(client, route);
    expect([scope, status]).toEqual([scope, isEnough(route, needed, scope) ? full : 403]);
    if (status === 403) expect(body.detail).toContain(needed === 'any' ? 'users:read' : needed);
  }
});
