import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateApiKey } from '../../src/api-keys/api-keys.service.js';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { OPERATIONS } from '../support/app/operations.js';
import { NARROW, scopeOf, statusFor } from '../support/app/route-scopes.js';
import { PASSWORD, databaseOf, inSeconds, sha256 } from '../support/app/people.js';
import { servedRoutes } from '../support/app/served-routes.js';

/** All kinds of callers, in the order of the columns below. */
const WHO = ['nobody', 'a bad key', 'a revoked key', 'External user', 'member', 'Webmaster', 'key'] as const;
type Who = (typeof WHO)[number];
type Session = 'External user' | 'member' | 'Webmaster';
const SESSIONS: Session[] = ['External user', 'member', 'Webmaster'];

/** What a request depends on: the caller and another user. */
interface Target {
  own: string;
  other: string;
}
type Send = (client: Client, target: Target) => ReturnType<Client['get']>;

const EVERYBODY = [200, 200, 200, 200, 200, 200, 200];
/** The caller's own profile: only sessions have one. */
const OWN = [...Array<undefined>(3), 200, 200, 200, undefined];
const LOGIN = { username: 'admin', password: ADMIN_PASSWORD };

/** Statuses for the profile of another user: External users are refused, and members get the given status. */
const OTHERS = (status: number) => [401, 401, 401, 403, status, 200, 200];
/** Every route of the OpenAPI file: the status of each column. A route may have several lines. */
const TABLE: [string, string, Send, (number | undefined)[]][] = [
  ['GET /status', '', (c) => c.get('/status'), EVERYBODY],
  ['POST /sessions/login', '', (c) => c.post('/sessions/login', LOGIN), EVERYBODY],
  ['POST /sessions/logout', '', (c) => c.post('/sessions/logout'), [401, 401, 401, 200, 200, 200, 401]],
  ['GET /users/me', '', (c) => c.get('/users/me'), [401, 401, 401, 200, 200, 200, 404]],
  ['GET /users/deleted', '', (c) => c.get('/users/deleted'), OTHERS(403)],
  ['GET /roles', '', (c) => c.get('/roles'), OTHERS(200)],
  ['GET /users/search', '', (c) => c.get('/users/search'), OTHERS(200)],
  ['POST /users', '', (c) => c.post('/users', aUser()), [401, 401, 401, 403, 403, 201, 201]],
  ['GET /users/{user_id}', 'another', (c, t) => c.get(`/users/${t.other}`), OTHERS(200)],
  ['GET /users/{user_id}', 'their own', (c, t) => c.get(`/users/${t.own}`), OWN],
  ['GET /users/{user_id}', 'their own in capitals', (c, t) => c.get(`/users/${t.own.toUpperCase()}`), OWN],
  ['PUT /users/{user_id}', 'another', (c, t) => c.put(`/users/${t.other}`, { phone: '1' }), OTHERS(403)],
  ['PUT /users/{user_id}', 'their own', (c, t) => c.put(`/users/${t.own}`, { phone: '1' }), OWN],
];
/** Imports are for Webmasters and keys; they get 404, as this one does not exist. */
const MANAGERS = (status: number) => [401, 401, 401, 403, 403, status, status];
const NOBODY = '00000000-0000-4000-8000-00000000dead';
const NO_IMPORT = `/imports/${NOBODY}`;
const NO_GROUP = `/groups/${NOBODY}`;
const CSV = { 'content-type': 'text/csv' };
TABLE.push(
  ['GET /users/export.csv', '', (c) => c.get('/users/export.csv'), MANAGERS(200)],
  ['POST /imports', '', (c) => c.send('POST', '/imports?dry_run=true', 'ExternalId\n', CSV), MANAGERS(202)],
  ['GET /imports', '', (c) => c.get('/imports'), MANAGERS(200)],
  ['GET /imports/template.csv', '', (c) => c.get('/imports/template.csv'), MANAGERS(200)],
  [
    'POST /imports/preview',
    '',
    (c) => c.send('POST', '/imports/preview', 'ExternalId\n', CSV),
    MANAGERS(200),
  ],
  ['GET /import_profiles', '', (c) => c.get('/import_profiles'), MANAGERS(200)],
  ['GET /import_profiles/{name}', '', (c) => c.get('/import_profiles/moodle'), MANAGERS(200)],
  [
    'PUT /import_profiles/{name}',
    '',
    (c) => c.put('/import_profiles/p', { columns: { a: 'GUID' } }),
    MANAGERS(200),
  ],
  ['DELETE /import_profiles/{name}', '', (c) => c.delete('/import_profiles/none'), MANAGERS(404)],
  ['GET /imports/{import_id}', '', (c) => c.get(NO_IMPORT), MANAGERS(404)],
  ['GET /imports/{import_id}/rows', '', (c) => c.get(`${NO_IMPORT}/rows`), MANAGERS(404)],
  ['GET /imports/{import_id}/failed.csv', '', (c) => c.get(`${NO_IMPORT}/failed.csv`), MANAGERS(404)],
  ['GET /imports/{import_id}/events', '', (c) => c.get(`${NO_IMPORT}/events`), MANAGERS(404)],
  ...['apply', 'cancel', 'reject', 'revert'].map((word): (typeof TABLE)[number] => [
    `POST /imports/{import_id}/${word}`,
    '',
    (c) => c.post(`${NO_IMPORT}/${word}`),
    MANAGERS(404),
  ]),
);

TABLE.push(
  ['GET /groups', '', (c) => c.get('/groups'), MANAGERS(200)],
  ['GET /groups/{group_id}', '', (c) => c.get(NO_GROUP), MANAGERS(404)],
  ['PUT /groups/{group_id}', '', (c) => c.put(NO_GROUP, { roles: [] }), MANAGERS(404)],
);

TABLE.push(
  ['GET /audit', '', (c) => c.get('/audit'), MANAGERS(200)],
  ['GET /audit/seals', '', (c) => c.get('/audit/seals'), MANAGERS(200)],
  ['GET /statistics', '', (c) => c.get('/statistics'), MANAGERS(200)],
  ['GET /audit.csv', '', (c) => c.get('/audit.csv'), MANAGERS(200)],
  ['POST /users/{user_id}/restore', '', (c) => c.post(`/users/${NOBODY}/restore`), MANAGERS(404)],
  ['GET /users/{user_id}/history', '', (c, t) => c.get(`/users/${t.own || t.other}/history`), MANAGERS(200)],
  ['GET /api_keys', '', (c) => c.get('/api_keys'), MANAGERS(200)],
  ['POST /api_keys', '', (c) => c.post('/api_keys', { name: 'x', scopes: ['users:read'] }), MANAGERS(201)],
  ['POST /api_keys/{key_id}/fuse', '', (c) => c.post(`/api_keys/${NOBODY}/fuse`), MANAGERS(404)],
  ['DELETE /api_keys/{key_id}', '', (c) => c.delete(`/api_keys/${NOBODY}`), MANAGERS(404)],
  ['GET /sessions', '', (c) => c.get('/sessions'), [401, 401, 401, 200, 200, 200, 200]],
  ['GET /sessions', 'of another', (c, t) => c.get(`/sessions?user_uuid=${t.other}`), OTHERS(403)],
  [
    'DELETE /sessions/{session_id}',
    '',
    (c) => c.delete(`/sessions/${NOBODY}`),
    [401, 401, 401, 404, 404, 404, 404],
  ],
  [
    'DELETE /users/{user_id}/sessions',
    'another',
    (c, t) => c.delete(`/users/${t.other}/sessions`),
    [401, 401, 401, 403, 403, 204, 204],
  ],
  [
    'DELETE /users/{user_id}/sessions',
    'their own',
    (c, t) => c.delete(`/users/${t.own}/sessions`),
    [...Array<undefined>(3), 204, 204, 204, undefined],
  ],
);

/** Outside the API: open to everybody, or SCIM, which has a table of its own (`scim-access`). */
const FOR_OTHERS =
  /^\S+ \/(|scim\/v2.*|health\/live|health\/ready|metrics|problems\/\{code\}|assets\/default-avatar\.svg|docs\b.*|guides\b.*|console\b.*)$/;
const CODES = new Map([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
]);

let app: TestApp;
let other: Json;
let revokedKey: string;
const people = new Map<Who, Json>();
/** Sessions that no request has ended. */
const sessions = new Map<Who, Client>();
/** A key of each scope. */
const narrow = new Map<string, string>();

beforeAll(async () => {
  app = await TestApp.start();
  other = await create(app.key);
  for (const role of SESSIONS) {
    people.set(role, await create(app.key, { password: PASSWORD, roles: role === 'member' ? [] : [role] }));
  }
  for (const scope of NARROW) {
    narrow.set(scope, (await app.key.post('/api_keys', { name: scope, scopes: [scope] })).body.key);
  }
  revokedKey = generateApiKey();
  await databaseOf(app).execute(
    'INSERT INTO api_keys (id, key_hash, name, created, expires, revoked, last_used) VALUES (?, ?, ?, ?, NULL, ?, NULL)',
    [crypto.randomUUID(), sha256(revokedKey), 'revoked', inSeconds(-60), inSeconds(-1)],
  );
});
afterAll(() => app.end());

async function clientOf(who: Who): Promise<Client> {
  if (who === 'nobody') return app.nobody;
  if (who === 'key') return app.key;
  if (who === 'a bad key') return app.nobody.with({ 'x-api-key': generateApiKey() });
  if (who === 'a revoked key') return app.nobody.with({ 'x-api-key': revokedKey });
  const client = sessions.get(who) ?? (await app.login(people.get(who).username, PASSWORD));
  sessions.set(who, client);
  return client;
}

const cells = TABLE.flatMap(([route, whose, send, statuses]) =>
  WHO.flatMap((who, column) => {
    const status = statuses[column];
    return status === undefined ? [] : [{ route, whose, who, status, send }];
  }),
);

test.each(cells)('$route ($whose) by $who: $status', async ({ route, who, status, send }) => {
  const answer = await send(await clientOf(who), { own: people.get(who)?.uuid ?? '', other: other.uuid });
  expect(answer.status).toBe(status);
  expect(answer.body?.code).toBe(CODES.get(status));
  expect(answer.headers['www-authenticate'] !== undefined).toBe(status === 401);
  if (/sessions/.test(route)) sessions.clear();
});

const narrowCells = TABLE.flatMap(([route, whose, send, statuses]) => {
  const full = statuses[WHO.indexOf('key')];
  if (full === undefined) return [];
  return NARROW.map((scope) => ({ route, whose, scope, status: statusFor(route, scope, full), send }));
});

test.each(narrowCells)('$route ($whose) by a key of $scope: $status', async ({ scope, status, send }) => {
  const client = app.nobody.with({ 'x-api-key': narrow.get(scope) ?? '' });
  const answer = await send(client, { own: '', other: other.uuid });
  expect(answer.status).toBe(status);
  expect(answer.body?.code).toBe(status === 403 ? 'insufficient_scope' : CODES.get(status));
});

describe('the table', () => {
  const documented = OPERATIONS.filter(({ path }) => path.startsWith('/api/')).map(
    (operation) => [`${operation.method} ${operation.path.replace('/api/0.3', '')}`, operation] as const,
  );
  const routes = documented.map(([route]) => route);

  test('has a line for every route of the OpenAPI file, and for no other', () => {
    expect(new Set(TABLE.map(([route]) => route))).toEqual(new Set(routes));
  });

  test('has the scope of every route, as the OpenAPI file names it', () => {
    const named = documented.map(([route, operation]) => [route, operation['x-required-scope']]);
    expect(named).toEqual(routes.map((route) => [route, scopeOf(route)]));
  });

  test('leaves no route of the service out', () => {
    const served = servedRoutes(app.app).filter((route) => !FOR_OTHERS.test(route));
    expect(new Set(served)).toEqual(new Set(routes.map((route) => route.replace(' ', ' /api/0.3'))));
  });
});
