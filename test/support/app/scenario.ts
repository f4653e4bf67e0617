import { hash } from '@node-rs/argon2';
import { v7 as uuidv7 } from 'uuid';
import { SealVerifier } from '../../../src/audit/seal-verifier.service.js';
import { Sealer } from '../../../src/audit/sealer.service.js';
import { toDbTime } from '../../../src/platform/common/time.js';
import { Env } from '../../../src/platform/config/env.js';
import { TransactionRunner } from '../../../src/platform/database/transaction-runner.js';
import { LoginThrottle } from '../../../src/sessions/login-throttle.service.js';
import { LoginThrottleRepository } from '../../../src/sessions/login-throttle.repository.js';
import { Leases } from '../../../src/platform/database/leases/leases.service.js';
import { SessionsService } from '../../../src/sessions/sessions.service.js';
import { PurgeService } from '../../../src/operations/start/purge.service.js';
import { UserSettings } from '../../../src/users/rules/user-settings.js';
import { toUserFilter } from '../../../src/users/search/filter.js';
import { UserSearch } from '../../../src/users/search/user-search.service.js';
import type { TestApp } from './app.js';
import type { Answer, Client } from './client.js';
import { deleteAndRestore } from './deletion.js';
import { aUser, create } from '../data/factories.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, sha256 } from './people.js';
import { type Query, nextOf, search } from './search.js';
import { seededUser, seededUuid } from './seed.js';
import { BUSY_ACTOR, BUSY_RUNNER } from './seed-history.js';

const HOUR_MILLIS = 3_600_000;
/** Time after the end of an hour when its audit can be sealed. */
const SEALED_AFTER_MILLIS = 6 * 60_000;
const SORTS = 'relevance updated created firstname surname username email external_id status'.split(' ');
const SINCE = '2024-01-01T00:05:00.000Z';

const { username, email } = seededUser(500);
/** Filters with few matches. */
export const NARROW: readonly Query[] = [
  { username },
  { email },
  { email_domain: 'zebra.example.org' },
  { phone: '0000003' },
  { find: 'HR-0000500' },
  { external_id: 'HR-0000500' },
  { authname: 'saml:u0000500' },
  { manager_uuid: seededUuid(3) },
  { managed_by: 'pilot' },
  { status: 'Blocked' },
  { role: 'Editor' },
  { role: ['Editor', 'Author'] },
  { has_external_id: 'false' },
  { fulltext_search: 'zebra' },
  { fulltext_search: 'zebra ze* zebrä' },
  { fulltext_search: 'zebra', status: 'Blocked', role: 'Editor' },
  { updated_since: '2025-12-31T00:00:00.000Z' },
  { created_since: '2025-12-31T00:00:00.000Z' },
];
/** Filters that match most users. */
export const BROAD: readonly Query[] = [
  { status: 'Active' },
  { status: ['Active', 'Blocked'] },
  { role: 'Organisational user' },
  { email_domain: 'example.org' },
  { phone: '7946 0000' },
  { has_external_id: 'true' },
  { managed_by: 'default' },
  { fulltext_search: 'u000*' },
  { fulltext_search: 'u0* hr*' },
  { updated_since: SINCE },
  { created_since: SINCE },
];

/** Filters for readers other than Webmasters. */
export const FOR_MEMBERS: readonly Query[] = [
  {},
  { username },
  { email },
  { email_domain: 'zebra.example.org' },
  { phone: '0000003' },
  { role: 'Author' },
  { manager_uuid: seededUuid(3) },
  { fulltext_search: 'zebra ze*' },
  { created_since: '2025-12-31T00:00:00.000Z' },
];

/** Returns the response if it has the expected status. @throws Error with the actual status and text. */
export async function check(sent: Promise<Answer>, status = 200): Promise<Answer> {
  const response = await sent;
  if (response.status !== status)
    throw new Error(`${response.status} instead of ${status}: ${response.text}`);
  return response;
}

/** Reads the first two pages of each filter in every order of `sorts`. */
export async function searchAll(
  client: Client,
  filters: readonly Query[],
  sorts: readonly string[] = SORTS,
): Promise<void> {
  for (const filter of filters) {
    for (const sort of sorts) {
      for (const order of ['asc', 'desc']) {
        const next = nextOf(await check(search(client, { ...filter, sort, order, limit: 5, offset: 3 })));
        if (next) await check(client.get(next));
      }
    }
  }
}

/** Creates a user, changes the user in every way, and deletes and restores the manager. */
export async function exerciseUser(app: TestApp): Promise<void> {
  const { key } = app;
  const boss = await create(key);
  const once = { 'idempotency-key': 'one' };
  const { uuid } = (await check(key.post('/users', aUser({ roles: ['Webmaster', 'Editor'] }), once), 201))
    .body;
  await databaseOf(app).execute('UPDATE idempotent_requests SET created = ?', [inSeconds(-2 * 24 * 3600)]);
  await check(key.post('/users', aUser(), once), 201);
  await check(key.put(`/users/${uuid}`, { username: 'a b', surname: 'New', manager_uuid: boss.uuid }));
  await check(key.put(`/users/${uuid}`, { roles: ['Editor'], authname: { saml: ['x'] }, status: 'Blocked' }));
  await deleteAndRestore(app, boss.uuid as string, uuid as string);
}

/** Logs in with a wrong password, with a right one and with an outdated hash. Then renews, lists and ends sessions. */
export async function exerciseSessions(app: TestApp): Promise<void> {
  const database = databaseOf(app);
  const { user, client } = await aPerson(app);
  await check(app.guest.post('/sessions/login', { username: user.username, password: 'not this one' }), 401);
  const devices = app.app.get(LoginThrottle);
  await app.app.get(TransactionRunner).run(async (tx) => {
    let tokens: string[] = [];
    for (let added = 0; added <= 20; added++)
      tokens = await devices.rememberDevice(tx, user.uuid, undefined, []);
    await devices.rememberDevice(tx, user.uuid, sha256(tokens.join()), tokens);
  });
  await devices.findDevice(user.uuid, ['unknown']);
  const window = { scope: 'user', failures: 1, window_ends: inSeconds(900) };
  await app.app.get(LoginThrottleRepository).shortenWindow(window);
  await database.execute("INSERT INTO leases (name, owner, until) VALUES ('lost', 'gone', '1970-01-01')");
  const leases = app.app.get(Leases);
  await leases.isHeld('lost', 0);
  await leases.isHeld('lost', 0); // has seen no heartbeat, and frees the lease
  const old = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await database.execute('UPDATE users SET password_hash = ? WHERE uuid = ?', [old, user.uuid]);
  const other = await app.login(user.username, PASSWORD);
  await database.execute('UPDATE sessions SET expires = ? WHERE user_uuid = ?', [inSeconds(60), user.uuid]);
  await check(client.get('/users/me'));
  await check(app.key.get('/sessions?limit=5&offset=20'));
  const { Results } = (await check(app.key.get(`/sessions?user_uuid=${user.uuid}&limit=1&offset=1`))).body;
  await check(app.key.delete(`/sessions/${Results[0].id}`), 204);
  await check(other.post('/sessions/confirm', { password: PASSWORD }), 204);
  await check(other.put(`/users/${user.uuid}`, { password: 'a new password', current_password: PASSWORD }));
  await check(other.post('/sessions/logout'));
  await app.app.get(SessionsService).isLive(Results[0].id as string);
  const { body } = await check(app.key.post('/api_keys', { name: 'x', scopes: ['users:write'] }), 201);
  await check(
    app.guest.with({ 'x-api-key': body.key as string }).delete(`/users/${user.uuid}/sessions`),
    204,
  );
  await check(app.key.delete(`/users/${user.uuid}/sessions`), 204);
}

/** Finds the part of a search with the most matches, as for the error of a search that took too long. */
export async function findBroadestFilter({ app }: TestApp): Promise<void> {
  const query = { fulltext_search: 'u000*', managed_by: 'default' };
  const filter = toUserFilter(query, { kind: 'system', id: null }, app.get(UserSettings).roles);
  await app.get(UserSearch).findBroadestPart(filter, new AbortController().signal);
}

/** Uses API keys, the audit with every filter, and the endpoints for monitoring. */
export async function exerciseReads(app: TestApp): Promise<void> {
  const { key, guest } = app;
  const { id } = (await check(key.post('/api_keys', { name: 'x' }), 201)).body;
  await check(key.get('/api_keys?limit=1&offset=1'));
  await check(key.delete(`/api_keys/${id}`), 204);
  await blowFuse(app);
  const filters = [
    '',
    `actor=${BUSY_ACTOR}`,
    `target=${seededUuid(7)}`,
    'action=user.blocked&action=session.created',
    'action=user.updated',
    'actor_kind=user',
    'field=surname',
    'since=2026-01-01T00:00:00.000Z',
    'until=2099-01-01T00:00:00.000Z',
    `actor=${BUSY_ACTOR}&action=user.blocked`,
    `actor=${BUSY_ACTOR}&target=${seededUuid(7)}`,
    `action=user.blocked&target=${seededUuid(7)}`,
    `actor=${BUSY_ACTOR}&field=surname&actor_kind=key`,
    `actor=${BUSY_RUNNER}`,
    `target=${seededUuid(7)}&field=phone&actor=${BUSY_RUNNER}`,
  ];
  for (const filter of filters) {
    await check(key.get(`/audit?limit=5&${filter}`));
    await check(key.get(`/audit?limit=5&${filter}&after=ffffffff-ffff-7fff-8fff-ffffffffffff`));
    await check(key.get(`/audit.csv?${filter}`));
  }
  for (const path of ['/health/live', '/health/ready', '/metrics']) await check(guest.fetch('GET', path));
  await check(guest.get('/status'));
  await check(key.get('/roles'));
  await check(key.get('/statistics?days=90&utc_offset=-5'));
}

/** Seals the audit, adds a late row, and verifies the audit. */
export async function sealAudit(app: TestApp): Promise<void> {
  const sealer = app.app.get(Sealer);
  const end = (Math.floor(Date.now() / HOUR_MILLIS) + 1) * HOUR_MILLIS;
  await sealer.sealEndedHours(end + SEALED_AFTER_MILLIS);
  const lateMillis = end - 1;
  const columns = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';
  await databaseOf(app).execute(
    `INSERT INTO audit_events (${columns}) VALUES (?, ?, 'system', NULL, 'user.updated', 'user', ?, '[]', 'late', '')`,
    [uuidv7({ msecs: lateMillis }), toDbTime(new Date(lateMillis)), seededUuid(7)],
  );
  await sealer.sealAtStart(end + HOUR_MILLIS + SEALED_AFTER_MILLIS);
  await check(app.key.get('/statistics?days=90&utc_offset=-5'));
  const { fault, late } = await app.app.get(SealVerifier).verify();
  if (fault || late !== 1) throw new Error(`${late} late rows, ${JSON.stringify(fault)}`);
  await purge(app);
}

/** Blocks more users with a key than its fuse allows, and resets the fuse. */
async function blowFuse(app: TestApp): Promise<void> {
  const { key, guest } = app;
  const env = app.app.get(Env);
  const { FUSE_MIN, FUSE_PERCENT } = env;
  Object.assign(env, { FUSE_MIN: 1, FUSE_PERCENT: 0 });
  const created = (await check(key.post('/api_keys', { name: 'fuse' }), 201)).body;
  const client = guest.with({ 'x-api-key': created.key });
  const block = async (status: number): Promise<void> => {
    await check(client.put(`/users/${(await create(key)).uuid as string}`, { status: 'Blocked' }), status);
  };
  await block(200);
  await block(429);
  await check(key.post(`/api_keys/${created.id as string}/fuse`));
  await block(200);
  const old = [created.id as string, inSeconds(-7200), seededUuid(1)];
  await databaseOf(app).execute(
    'INSERT INTO key_deactivations (key_id, time, user_uuid) VALUES (?, ?, ?)',
    old,
  );
  Object.assign(env, { FUSE_MIN, FUSE_PERCENT });
}

/** Purges what has expired. */
export const purge = ({ app }: TestApp): Promise<void> => app.get(PurgeService).purgeAll();
