import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_PASSWORD, setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { aUser, create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { csv, runImport, awaitRun } from '../support/app/imports.js';
import { OPERATIONS } from '../support/app/operations.js';
import { aPerson, databaseOf } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';

/** A request that takes effect once, and a different request that is sent with the same key. */
interface Case {
  path: string;
  body?: object | string;
  other?: object | string;
  /** Table whose rows are counted in addition to the audit events. */
  table?: string;
  /** True if an import continues after the response. */
  settles?: boolean;
}

const app = setUpApp({ IMPORT_FOLDER: mkdtempSync(join(tmpdir(), 'rollcall-drop-')) });

const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead';
const HEAD = 'ExternalId,Username,Email';
const aFile = (): string => csv(HEAD, `${randomUUID()},${randomUUID()},${randomUUID()}@example.org`);
const planRun = async (): Promise<string> => (await runImport(app.key, aFile(), 'dry_run=true')).id;

/** Form with a file. */
const aForm = (): string =>
  `--x\r\nContent-Disposition: form-data; name="file"; filename="${randomUUID()}.csv"\r\n\r\n${aFile()}\r\n--x--\r\n`;

/** An import that continues after the response. */
const RUN = { table: 'import_runs', settles: true };

/** Every unsafe route of the OpenAPI file that needs credentials. */
const ROUTES: Record<string, () => Promise<Case> | Case> = {
  'POST /users': () => ({ path: '/users', body: aUser(), other: aUser(), table: 'users' }),
  'PUT /users/{user_id}': async () => {
    const { uuid } = await create(app.key);
    return { path: `/users/${uuid}`, body: { phone: '1' }, other: { phone: '2' } };
  },
  'DELETE /users/{user_id}': async () => {
    const { uuid } = await create(app.key);
    return { path: `/users/${uuid}`, table: 'deleted_users' };
  },
  'POST /users/{user_id}/password': async () => {
    const { uuid } = await create(app.key);
    return { path: `/users/${uuid}/password`, body: {}, other: { must_change: false } };
  },
  'POST /users/{user_id}/restore': async () => {
    const { uuid } = await create(app.key);
    await writeUsers(app, [deletion(String(uuid))]);
    return { path: `/users/${uuid}/restore`, table: 'users' };
  },
  'PUT /groups/{group_id}': async () => {
    const { uuid } = await aGroup(app);
    const bodies = { body: { roles: ['Editor'] }, other: { roles: [] } };
    return { path: `/groups/${uuid}`, ...bodies, table: 'user_groups' };
  },
  'DELETE /users/{user_id}/sessions': async () => {
    const { user } = await aPerson(app);
    return { path: `/users/${user.uuid}/sessions`, table: 'sessions' };
  },
  'DELETE /sessions/{session_id}': async () => {
    const { user } = await aPerson(app);
    const { Results } = (await app.key.get(`/sessions?user_uuid=${user.uuid}`)).body;
    return { path: `/sessions/${Results[0].id}`, table: 'sessions' };
  },
  'POST /api_keys': () => {
    const bodies = { body: { name: 'one' }, other: { name: 'two' } };
    return { path: '/api_keys', ...bodies, table: 'api_keys' };
  },
  'POST /api_keys/{key_id}/fuse': async () => {
    const { id } = (await app.key.post('/api_keys', { name: 'with a fuse' })).body;
    return { path: `/api_keys/${id}/fuse` };
  },
  'DELETE /api_keys/{key_id}': async () => {
    const { id } = (await app.key.post('/api_keys', { name: 'to be revoked' })).body;
    return { path: `/api_keys/${id}` };
  },
  'PUT /import_profiles/{name}': () => ({
    path: `/import_profiles/p${randomUUID().slice(0, 8)}`,
    body: { columns: { Nr: 'ExternalId' } },
    other: { columns: { Id: 'ExternalId' } },
    table: 'import_profiles',
  }),
  'DELETE /import_profiles/{name}': async () => {
    const path = `/import_profiles/${randomUUID()}`;
    await app.key.put(path, { columns: { Nr: 'ExternalId' } });
    return { path, table: 'import_profiles' };
  },
  'POST /imports/scheduled': () => ({ path: '/imports/scheduled' }),
  'POST /imports/schedule/files': () => ({ path: '/imports/schedule/files', body: aForm(), other: aForm() }),
  'POST /imports': () => ({ path: '/imports', body: aFile(), other: aFile(), ...RUN }),
  'POST /imports/{import_id}/apply': async () => ({ path: `/imports/${await planRun()}/apply`, ...RUN }),
  'POST /imports/{import_id}/cancel': async () => ({ path: `/imports/${await planRun()}/cancel` }),
  'POST /imports/{import_id}/reject': async () => ({ path: `/imports/${await planRun()}/reject` }),
  'POST /imports/{import_id}/revert': async () => ({
    path: `/imports/${(await runImport(app.key, aFile())).id}/revert`,
    ...RUN,
  }),
};
/** Routes only for sessions. A logout ends the session of the request, so a retry returns 401. */
const SESSION_ONLY = ['POST /sessions/logout', 'POST /sessions/confirm'];
/** Changes nothing, and its response with rows of a file is not stored. */
const PREVIEW = 'POST /imports/preview';

/** Routes that change something and need credentials. `test/scim` tests the SCIM routes. */
const UNSAFE = OPERATIONS.filter(
  ({ method, path, security = [] }) =>
    method !== 'GET' && !path.startsWith('/scim') && security.some((need) => Object.keys(need).length),
).map((operation) => [`${operation.method} ${operation.path.replace('/api/0.3', '')}`, operation] as const);

const send = (route: string, path: string, body: Case['body'], key: string): Promise<Answer> => {
  const [method = ''] = route.split(' ');
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const media = text?.startsWith('--x') ? 'multipart/form-data; boundary=x' : 'text/csv';
  const type = typeof body === 'string' ? { 'content-type': media } : undefined;
  return app.key.send(method, path, text, { 'idempotency-key': key, ...type });
};

/** Counts the audit events and the rows of a table, which show the effects of a request. */
async function countEffects(table?: string): Promise<number[]> {
  const tables = ['audit_events', ...(table === undefined ? [] : [table])];
  const counts = tables.map((name) =>
    databaseOf(app).queryOne<{ count: number }>(`SELECT COUNT(*) AS count FROM ${name}`),
  );
  return (await Promise.all(counts)).map((row) => row?.count ?? 0);
}

test('the idempotency tests cover every route that changes data', () => {
  expect(UNSAFE.map(([route]) => route).sort()).toEqual(
    [...Object.keys(ROUTES), ...SESSION_ONLY, PREVIEW].sort(),
  );
  for (const [route, { parameters }] of UNSAFE) {
    if (route === PREVIEW) continue;
    const names = parameters.map(({ name }) => name);
    expect([route, names.includes('Idempotency-Key')]).toEqual([route, true]);
  }
});

describe.each(Object.keys(ROUTES))('%s', (route) => {
  test('takes effect once if retried with the same Idempotency-Key', async () => {
    const { path, body, other, table, settles } = (await ROUTES[route]?.()) as Case;
    const key = randomUUID();
    const unknown = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, UNKNOWN_ID);
    const refused = await send(route, unknown === path ? `${path}?nonsense=1` : unknown, body, key);
    expect(refused.status).toBe(unknown === path ? 400 : 404); // a rejected request does not use up the key
    const first = await send(route, path, body, key);
    expect(first.status).toBeLessThan(300);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    if (settles) await awaitRun(app.key, first.body.id);
    const before = await countEffects(table);
    for (let retry = 0; retry < 2; retry++) {
      const again = await send(route, path, body, key);
      expect(visibleOf(again)).toEqual({ ...visibleOf(first), replayed: 'true' });
    }
    const others = [await send('PUT', `/users/${UNKNOWN_ID}`, { phone: '1' }, key)];
    if (other) others.push(await send(route, path, other, key));
    for (const answer of others) expect(refusalOf(answer)).toEqual([422, 'Idempotency-Key invalid_value']);
    expect(await countEffects(table)).toEqual(before);
  });
});

/** Returns the parts of a response that a client can see. */
function visibleOf({ status, text, headers }: Answer) {
  const { location, etag, 'content-type': type, 'idempotency-replayed': replayed } = headers;
  return { status, text, location, etag, type, replayed };
}

test('two logins with the same Idempotency-Key start two sessions', async () => {
  const login = { username: 'admin', password: ADMIN_PASSWORD };
  const key = { 'idempotency-key': randomUUID() };
  const [first, second] = [
    await app.guest.post('/sessions/login', login, key),
    await app.guest.post('/sessions/login', login, key),
  ];
  expect({ first: first.status, second: second.status }).toEqual({ first: 200, second: 200 });
  expect(second.cookie).not.toBe(first.cookie);
});

test('a logout repeated with the same Idempotency-Key returns 401', async () => {
  const { client } = await aPerson(app);
  const key = { 'idempotency-key': randomUUID() };
  const logout = () => client.send('POST', '/sessions/logout', undefined, key);
  expect((await logout()).status).toBe(200);
  expect((await logout()).status).toBe(401);
});

test('a GET request ignores an invalid Idempotency-Key', async () => {
  expect((await app.key.get('/users/search', { 'idempotency-key': 'not a key' })).status).toBe(200);
});
