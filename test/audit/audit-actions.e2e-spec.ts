import { beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ACTIONS } from '../../src/audit/audit-event.js';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { aRestoredUser } from '../support/app/deletion.js';
import { addScheduledFile, setUpSchedule } from '../support/app/drop-folder.js';
import { create } from '../support/data/factories.js';
import { aDeletedGroup } from '../support/app/groups.js';
import { csv, runImport, awaitRun, upload } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, inSeconds } from '../support/app/people.js';
import { startNewEpoch } from '../../src/operations/backup/start-new-epoch.js';
import { Installation } from '../../src/platform/database/installation/installation.service.js';
import { ImportsService } from '../../src/import/imports.service.js';
import { ROOT } from '../support/process/process.js';

/** Causes every action of the table in docs/operator.md and checks the recorded actor and target. */
const app = setUpApp(setUpSchedule());
let key: Client;
beforeAll(() => void ({ key } = app));

const readEvents = async (query: string): Promise<Json[]> => {
  const answer = await key.get(`/audit?limit=100&${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.Results;
};
const HEADER = 'ExternalId,Username,Email';
let files = 0;
/** Builds a CSV file with one new user. */
const buildFile = (name = `f${++files}`) => csv(HEADER, `${name},${name},${name}@example.org`);

type Expected = { actor: string; target: string };
/** Functions that each cause an action and return the expected actor and target of its event. */
const CAUSES: Record<string, () => Promise<Expected>> = {
  'user.created': async () => ({ actor: 'key', target: (await create(key)).uuid }),
  'user.updated': async () => {
    const { uuid } = await create(key);
    await key.put(`/users/${uuid}`, { phone: '1' });
    return { actor: 'key', target: uuid };
  },
  'user.blocked': async () => ({ actor: 'key', target: await createBlocked() }),
  'user.reactivated': async () => {
    const uuid = await createBlocked();
    await key.put(`/users/${uuid}`, { status: 'Active' });
    return { actor: 'key', target: uuid };
  },
  'user.deleted': () => aRestoredUser(app),
  'user.restored': () => aRestoredUser(app),
  'group.created': () => aDeletedGroup(app),
  'group.updated': () => aDeletedGroup(app),
  'group.deleted': () => aDeletedGroup(app),
  'users.exported': async () => {
    await key.get('/users/export.csv?all=true');
    return { actor: 'key', target: '' };
  },
  'session.created': async () => {
    const { user, client } = await aPerson(app);
    return { actor: user.uuid, target: (await client.get('/sessions')).body.Results[0].id };
  },
  'session.ended': async () => {
    const { user, client } = await aPerson(app);
    const { id } = (await client.get('/sessions')).body.Results[0];
    await client.post('/sessions/logout');
    return { actor: user.uuid, target: id };
  },
  'session.login_failed': async () => {
    const { uuid, username } = await create(key, { password: PASSWORD });
    await app.guest.post('/sessions/login', { username, password: 'not this one' });
    return { actor: 'anonymous', target: uuid };
  },
  'api_key.created': async () => ({ actor: 'key', target: (await createKey()).id }),
  'api_key.new_address': async () => {
    const { id, key: secret } = await createKey();
    await app.guest.with({ 'x-api-key': secret }).get('/users/search');
    return { actor: id, target: id };
  },
  'api_key.revoked': async () => {
    const { id } = await createKey();
    await key.delete(`/api_keys/${id}`);
    return { actor: 'key', target: id };
  },
  'api_key.fuse_blown': async () => {
    const { id } = await blowFuse();
    return { actor: id, target: id };
  },
  'api_key.fuse_reset': async () => {
    const { id } = await blowFuse();
    await key.post(`/api_keys/${id}/fuse`);
    return { actor: 'key', target: id };
  },
  'import.created': async () => ({ actor: 'key', target: (await runImport(key, buildFile())).id }),
  'import.approved': async () => {
    const { id } = await runImport(key, buildFile(), 'dry_run=true');
    await key.post(`/imports/${id}/apply`);
    await awaitRun(key, id);
    return { actor: 'key', target: id };
  },
  'import.rejected': async () => decide('reject'),
  'import.cancelled': async () => decide('cancel'),
  'import.reverted': async () => {
    const { id } = await runImport(key, buildFile());
    await awaitRun(key, (await key.post(`/imports/${id}/revert`)).body.id);
    return { actor: 'key', target: id };
  },
  'import.completed': async () => {
    const { id } = await runImport(key, buildFile());
    return { actor: id, target: id };
  },
  'import.failed': async () => {
    const { id } = (await upload(key, 'Nonsense\r\n1\r\n')).body;
    expect((await awaitRun(key, id)).state).toBe('failed');
    return { actor: id, target: id };
  },
  'import.superseded': async () => {
    const { id } = await runImport(key, buildFile(), 'dry_run=true');
    await databaseOf(app).execute('UPDATE import_runs SET created = ? WHERE id = ?', [
      inSeconds(-91 * 86_400),
      id,
    ]);
    await app.app.get(ImportsService).purge();
    return { actor: id, target: id };
  },
  'import.file_added': async () => {
    await addScheduledFile('added.csv', key, buildFile());
    return { actor: 'key', target: '' };
  },
  'import.files_taken': async () => {
    await key.post('/imports/scheduled');
    return { actor: 'key', target: '' };
  },
  'import_profile.saved': async () => ({ actor: 'key', target: await saveProfile() }),
  'import_profile.deleted': async () => {
    const target = await saveProfile();
    await key.delete('/import_profiles/audited');
    return { actor: 'key', target };
  },
  'database.restored': async () => {
    await startNewEpoch(databaseOf(app), 0, { ip: '127.0.0.1' });
    return { actor: 'system', target: app.app.get(Installation).id };
  },
};

async function saveProfile(): Promise<string> {
  await key.put('/import_profiles/audited', { columns: { Key: 'ExternalId' } });
  const rows = await databaseOf(app).query<{ id: string }>(
    "SELECT id FROM import_profiles WHERE name = 'audited'",
  );
  return rows[0]?.id ?? '';
}

async function createBlocked(): Promise<string> {
  const { uuid } = await create(key);
  await key.put(`/users/${uuid}`, { status: 'Blocked' });
  return uuid;
}
/** Creates an API key and blows its fuse. */
async function blowFuse(): Promise<Json> {
  const created = await createKey();
  const strict = await app.startOther({ FUSE_MIN: '1', FUSE_PERCENT: '1' });
  const client = strict.guest.with({ 'x-api-key': created.key });
  const { uuid } = await create(key);
  await client.put(`/users/${uuid}`, { status: 'Blocked' });
  const other = await create(key);
  expect((await client.put(`/users/${other.uuid}`, { status: 'Blocked' })).status).toBe(429);
  return created;
}
const createKey = async (): Promise<Json> => (await key.post('/api_keys', { name: 'k' })).body;
async function decide(decision: string): Promise<Expected> {
  const { id } = await runImport(key, buildFile(), 'dry_run=true');
  await key.post(`/imports/${id}/${decision}`);
  return { actor: 'key', target: id };
}

test.each(Object.keys(CAUSES))('the audit records %s with actor, target and IP address', async (action) => {
  const { actor, target } = await CAUSES[action]!();
  const found = await readEvents(`action=${action}${target === '' ? '' : `&target=${target}`}`);
  expect(found).toHaveLength(1);
  const [event] = found;
  const { kind, id } = event.actor;
  expect([kind, id]).toContain(actor);
  expect(event.ip).toBe('127.0.0.1');
});

test('docs/operator.md lists every audit action', () => {
  const text = readFileSync(`${ROOT}docs/operator.md`, 'utf8');
  const documented = [...text.matchAll(/^\| `([a-z_]+\.[a-z_]+)` /gm)].map(([, action]) => action);
  expect(documented).toEqual([...ACTIONS]);
  expect(Object.keys(CAUSES)).toEqual([...ACTIONS]);
});

test('failed logins are audited at most once a minute per username and IP', async () => {
  const readFailed = () =>
    databaseOf(app).query("SELECT id FROM audit_events WHERE action = 'session.login_failed'");
  const before = (await readFailed()).length;
  const login = (username: string, password: string) =>
    app.guest.post('/sessions/login', { username, password });
  // Three spellings of one username, on two instances.
  const other = await app.startOther();
  for (const name of ['Ghost', 'ghost', ' GHOST ']) await login(name, 'guess number 1');
  await other.guest.post('/sessions/login', { username: 'ghost', password: 'guess number 2' });
  const found = (await readEvents('action=session.login_failed')).filter(
    ({ changes }) => changes[0].new === 'Ghost',
  );
  expect(found.length).toBeGreaterThan(0);
  expect((await readFailed()).length - before).toBeLessThanOrEqual(2); // a new minute may have started
  expect(found[0]).toMatchObject({
    actor: { kind: 'anonymous', id: null },
    target: { kind: 'user', id: '00000000-0000-0000-0000-000000000000' },
    ip: '127.0.0.1',
  });
  await login('x'.repeat(200), 'guess number 3');
  await login('secret typed twice', 'secret typed twice');
  const names = (await readEvents('action=session.login_failed')).map(({ changes }) => changes[0].new);
  expect(names).toContain('x'.repeat(64));
  expect(names).not.toContain('secret typed twice');
  expect(names).not.toContain('x'.repeat(200));
});

test('API key use is audited once per client IP address', async () => {
  const { id, key: secret } = await createKey();
  const client = app.guest.with({ 'x-api-key': secret });
  for (let i = 0; i < 3; i++) await client.get('/users/search?limit=1');
  const other = await app.startOther({ TRUST_PROXY: '1' });
  const proxied = other.guest.with({ 'x-api-key': secret });
  for (const ip of ['192.0.2.7', '192.0.2.8', '192.0.2.7']) {
    await proxied.get('/users/search?limit=1', { 'x-forwarded-for': ip });
  }
  const ips = (await readEvents(`target=${id}&action=api_key.new_address`)).map(({ ip }) => ip);
  expect(ips).toEqual(['192.0.2.8', '192.0.2.7', '127.0.0.1']);
});

test('the audit filters since and until agree with the sort order', async () => {
  const at = Date.now();
  for (let n = 0; n < 3; n++) {
    await create(app.key);
    await app.guest.post('/sessions/login', { username: `order-${at}-${n}`, password: 'wrong' });
  }
  const { body } = await app.key.get('/audit?limit=100');
  const all: { id: string; time: string; action: string }[] = body.Results;
  const times = all.map(({ time }) => time);
  expect(times).toEqual([...times].sort().reverse());
  const failed = all.find(({ action }) => action === 'session.login_failed');
  for (const moment of [failed!.time, times[0]!, times.at(-1)!]) {
    const since = await app.key.get(`/audit?limit=100&since=${moment}`);
    expect(since.body.Results).toEqual(all.filter(({ time }) => time >= moment));
    const until = await app.key.get(`/audit?limit=100&until=${moment}`);
    expect(until.body.Results.map(({ time }: { time: string }) => time < moment)).not.toContain(false);
  }
});
