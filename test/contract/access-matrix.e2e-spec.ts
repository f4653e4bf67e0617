import { beforeAll, describe, expect, test } from '@jest/globals';
import { generateApiKey } from '../../src/api-keys/api-keys.service.js';
import { ADMIN_PASSWORD, setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { OPERATIONS } from '../support/app/operations.js';
import { NARROW_SCOPES, scopeOf, statusFor } from '../support/app/route-scopes.js';
import { PASSWORD, databaseOf, inSeconds, sha256 } from '../support/app/people.js';
import { listServedRoutes } from '../support/app/served-routes.js';

/** All kinds of callers, in the order of the columns below. */
const WHO = ['anonymous', 'bad key', 'revoked key', 'External user', 'member', 'Webmaster', 'key'] as const;
type Who = (typeof WHO)[number];
type Session = 'External user' | 'member' | 'Webmaster';
const SESSIONS: Session[] = ['External user', 'member', 'Webmaster'];

/** The users that a request may name: the caller and another user. */
interface Target {
  own: string;
  other: string;
}
type Send = (client: Client, target: Target) => ReturnType<Client['get']>;

const ALL_CALLERS = [200, 200, 200, 200, 200, 200, 200];
/** Statuses for the profile of the caller, which API keys do not have. */
const OWN = [...Array<undefined>(3), 200, 200, 200, undefined];
const LOGIN = { username: 'admin', password: ADMIN_PASSWORD };

/** Statuses for the profile of another user: External users are refused, and members get the given status. */
const others = (status: number) => [401, 401, 401, 403, status, 200, 200];
/** Every API route of the OpenAPI file with its status for each caller. A route may have several rows. */
const TABLE: [string, string, Send, (number | undefined)[]][] = [
  ['GET /status', '', (c) => c.get('/status'), ALL_CALLERS],
  ['POST /sessions/login', '', (c) => c.post('/sessions/login', LOGIN), ALL_CALLERS],
  ['POST /sessions/logout', '', (c) => c.post('/sessions/logout'), [401, 401, 401, 200, 200, 200, 401]],
  ['POST /sessions/confirm', '', (c) => c.post('/sessions/confirm', { password: PASSWORD }), [401, 401, 401, 204, 204, 204, 401]], // prettier-ignore
  ['GET /users/me', '', (c) => c.get('/users/me'), [401, 401, 401, 200, 200, 200, 404]],
  ['GET /users/deleted', '', (c) => c.get('/users/deleted'), others(403)],
  ['GET /roles', '', (c) => c.get('/roles'), others(200)],
  ['GET /users/search', '', (c) => c.get('/users/search'), others(200)],
  ['POST /users', '', (c) => c.post('/users', aUser()), [401, 401, 401, 403, 403, 201, 201]],
  ['GET /users/{user_id}', 'another user', (c, t) => c.get(`/users/${t.other}`), others(200)],
  ['GET /users/{user_id}', 'the caller', (c, t) => c.get(`/users/${t.own}`), OWN],
  [
    'GET /users/{user_id}',
    'the caller (id in capitals)',
    (c, t) => c.get(`/users/${t.own.toUpperCase()}`),
    OWN,
  ],
  ['PUT /users/{user_id}', 'another user', (c, t) => c.put(`/users/${t.other}`, { phone: '1' }), others(403)],
  ['PUT /users/{user_id}', 'the caller', (c, t) => c.put(`/users/${t.own}`, { phone: '1' }), OWN],
];
/** Statuses of routes for Webmasters and API keys only, who get the given status. */
const admins = (status: number) => [401, 401, 401, 403, 403, status, status];
/** Statuses of routes that every user and API key may use. */
const callers = (status: number) => [401, 401, 401, status, status, status, status];
const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead';
const UNKNOWN_IMPORT = `/imports/${UNKNOWN_ID}`;
const UNKNOWN_GROUP = `/groups/${UNKNOWN_ID}`;
const CSV = { 'content-type': 'text/csv' };
const FORM = { 'content-type': 'multipart/form-data; boundary=x' };
const PROFILE = { columns: { a: 'GUID' } };
TABLE.push(
  ['GET /users/export.csv', '', (c) => c.get('/users/export.csv'), admins(200)],
  ['POST /imports', '', (c) => c.send('POST', '/imports?dry_run=true', 'ExternalId\n', CSV), admins(202)],
  ['GET /imports', '', (c) => c.get('/imports'), admins(200)],
  ['GET /imports/template.csv', '', (c) => c.get('/imports/template.csv'), admins(200)],
  ['POST /imports/preview', '', (c) => c.send('POST', '/imports/preview', 'ExternalId\n', CSV), admins(200)],
  ['GET /imports/schedule', '', (c) => c.get('/imports/schedule'), admins(200)],
  ['POST /imports/scheduled', '', (c) => c.post('/imports/scheduled'), admins(409)],
  [
    'POST /imports/schedule/files',
    '',
    (c) => c.send('POST', '/imports/schedule/files', '', FORM),
    admins(409),
  ],
  ['GET /import_profiles', '', (c) => c.get('/import_profiles'), admins(200)],
  ['GET /import_profiles/{name}', '', (c) => c.get('/import_profiles/moodle'), admins(200)],
  ['PUT /import_profiles/{name}', '', (c) => c.put('/import_profiles/p', PROFILE), admins(200)],
  ['DELETE /import_profiles/{name}', '', (c) => c.delete('/import_profiles/none'), admins(404)],
  ['GET /imports/{import_id}', '', (c) => c.get(UNKNOWN_IMPORT), admins(404)],
  ['GET /imports/{import_id}/rows', '', (c) => c.get(`${UNKNOWN_IMPORT}/rows`), admins(404)],
  ['GET /imports/{import_id}/failed.csv', '', (c) => c.get(`${UNKNOWN_IMPORT}/failed.csv`), admins(404)],
  ['GET /imports/{import_id}/events', '', (c) => c.get(`${UNKNOWN_IMPORT}/events`), admins(404)],
  ...['apply', 'cancel', 'reject', 'revert'].map((word): (typeof TABLE)[number] => [
    `POST /imports/{import_id}/${word}`,
    '',
    (c) => c.post(`${UNKNOWN_IMPORT}/${word}`),
    admins(404),
  ]),
);

TABLE.push(
  ['GET /groups', '', (c) => c.get('/groups'), admins(200)],
  ['GET /groups/{group_id}', '', (c) => c.get(UNKNOWN_GROUP), admins(404)],
  ['PUT /groups/{group_id}', '', (c) => c.put(UNKNOWN_GROUP, { roles: [] }), admins(404)],
);

TABLE.push(
  ['GET /audit', '', (c) => c.get('/audit'), admins(200)],
  ['GET /statistics', '', (c) => c.get('/statistics'), admins(200)],
  ['GET /audit.csv', '', (c) => c.get('/audit.csv'), admins(200)],
  ['DELETE /users/{user_id}', '', (c) => c.delete(`/users/${UNKNOWN_ID}`), admins(404)],
  ['POST /users/{user_id}/password', '', (c) => c.post(`/users/${UNKNOWN_ID}/password`, {}), admins(404)],
  ['POST /users/{user_id}/restore', '', (c) => c.post(`/users/${UNKNOWN_ID}/restore`), admins(404)],
  ['GET /api_keys', '', (c) => c.get('/api_keys'), admins(200)],
  ['POST /api_keys', '', (c) => c.post('/api_keys', { name: 'x', scopes: ['users:read'] }), admins(201)],
  ['POST /api_keys/{key_id}/fuse', '', (c) => c.post(`/api_keys/${UNKNOWN_ID}/fuse`), admins(404)],
  ['DELETE /api_keys/{key_id}', '', (c) => c.delete(`/api_keys/${UNKNOWN_ID}`), admins(404)],
  ['GET /sessions', '', (c) => c.get('/sessions'), callers(200)],
  ['GET /sessions', 'another user', (c, t) => c.get(`/sessions?user_uuid=${t.other}`), others(403)],
  ['DELETE /sessions/{session_id}', '', (c) => c.delete(`/sessions/${UNKNOWN_ID}`), callers(404)],
  [
    'DELETE /users/{user_id}/sessions',
    'another user',
    (c, t) => c.delete(`/users/${t.other}/sessions`),
    [401, 401, 401, 403, 403, 204, 204],
  ],
  [
    'DELETE /users/{user_id}/sessions',
    'the caller',
    (c, t) => c.delete(`/users/${t.own}/sessions`),
    [...Array<undefined>(3), 204, 204, 204, undefined],
  ],
);

/** Routes outside the API: public pages, and SCIM, which `scim-access` tests. */
const OUTSIDE_API =
  /^\S+ \/(|scim\/v2.*|health\/live|health\/ready|metrics|problems\/\{code\}|assets\/default-avatar\.svg|docs\b.*|guides\b.*|console\b.*)$/;
const CODES = new Map([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'wrong_state'],
]);

const app = setUpApp();
let other: Json;
let revokedKey: string;
const people = new Map<Who, Json>();
/** Open sessions of the callers. */
const sessions = new Map<Who, Client>();
/** One key for each scope. */
const narrow = new Map<string, string>();

beforeAll(async () => {
  other = await create(app.key);
  for (const role of SESSIONS) {
    people.set(role, await create(app.key, { password: PASSWORD, roles: role === 'member' ? [] : [role] }));
  }
  for (const scope of NARROW_SCOPES) {
    narrow.set(scope, (await app.key.post('/api_keys', { name: scope, scopes: [scope] })).body.key);
  }
  revokedKey = generateApiKey();
  await databaseOf(app).execute(
    "INSERT INTO api_keys (id, key_hash, name, created, expires, revoked, maker_kind) VALUES (?, ?, ?, ?, NULL, ?, 'system')",
    [crypto.randomUUID(), sha256(revokedKey), 'revoked', inSeconds(-60), inSeconds(-1)],
  );
});

async function clientOf(who: Who): Promise<Client> {
  if (who === 'anonymous') return app.guest;
  if (who === 'key') return app.key;
  if (who === 'bad key') return app.guest.with({ 'x-api-key': generateApiKey() });
  if (who === 'revoked key') return app.guest.with({ 'x-api-key': revokedKey });
  const client = sessions.get(who) ?? (await app.login(people.get(who).username, PASSWORD));
  sessions.set(who, client);
  return client;
}

const ROWS = TABLE.map(([route, whose, ...rest]) => [route, whose && ` of ${whose}`, ...rest] as const);
const cells = ROWS.flatMap(([route, whose, send, statuses]) =>
  WHO.flatMap((who, column) => {
    const status = statuses[column];
    return status === undefined ? [] : [{ route, whose, who, status, send }];
  }),
);

test.each(cells)('$route$whose returns $status (caller: $who)', async ({ route, who, status, send }) => {
  const answer = await send(await clientOf(who), { own: people.get(who)?.uuid ?? '', other: other.uuid });
  expect(answer.status).toBe(status);
  expect(answer.body?.code).toBe(CODES.get(status));
  expect(answer.headers['www-authenticate'] !== undefined).toBe(status === 401);
  if (/sessions/.test(route)) sessions.clear();
});

const narrowCells = ROWS.flatMap(([route, whose, send, statuses]) => {
  const full = statuses[WHO.indexOf('key')];
  if (full === undefined) return [];
  return NARROW_SCOPES.map((scope) => ({ route, whose, scope, status: statusFor(route, scope, full), send }));
});

test.each(narrowCells)('$route$whose with scope $scope returns $status', async ({ scope, status, send }) => {
  const client = app.guest.with({ 'x-api-key': narrow.get(scope) ?? '' });
  const answer = await send(client, { own: '', other: other.uuid });
  expect(answer.status).toBe(status);
  expect(answer.body?.code).toBe(status === 403 ? 'insufficient_scope' : CODES.get(status));
});

describe('the access matrix', () => {
  const documented = OPERATIONS.filter(({ path }) => path.startsWith('/api/')).map(
    (operation) => [`${operation.method} ${operation.path.replace('/api/0.3', '')}`, operation] as const,
  );
  const routes = documented.map(([route]) => route);

  test('covers exactly the API routes of the OpenAPI file', () => {
    expect(new Set(TABLE.map(([route]) => route))).toEqual(new Set(routes));
  });

  test('has the scopes of the OpenAPI file', () => {
    const named = documented.map(([route, operation]) => [route, operation['x-required-scope']]);
    expect(named).toEqual(routes.map((route) => [route, scopeOf(route)]));
  });

  test('covers every API route that the service serves', () => {
    const served = listServedRoutes(app.app).filter((route) => !OUTSIDE_API.test(route));
    expect(new Set(served)).toEqual(new Set(routes.map((route) => route.replace(' ', ' /api/0.3'))));
  });
});
