import { beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { Caller, Actor, KeyActor } from '../../src/access/actor.js';
import { UserCounts } from '../../src/users/writer/user-counts.service.js';
import type { UserChange } from '../../src/users/writer/change-set.js';
import { setUpApp, TestApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { codesOf, deletion, update, writeUsers, SYSTEM } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { PASSWORD, aPerson, databaseOf, problemOf } from '../support/app/people.js';
import { DeletedUsers } from '../../src/users/deleted-users.service.js';
import { csv, runImport, findUser, rowsOf } from '../support/app/imports.js';

/** Deleted users (ADR 23) are not found by any route. Only the data that restores them is retained. */
const app = setUpApp();

/** Applies a change set. Returns the outcome of each change, or the code of its error. */
const applyAll = async (changes: UserChange[], caller?: Caller): Promise<string[]> =>
  codesOf(await writeUsers(app, changes, caller));
const read = async (uuid: string): Promise<Json> => (await app.key.get(`/users/${uuid}`)).body;
const readEvents = async (uuid: string): Promise<Json[]> =>
  (await app.key.get(`/audit?target=${uuid}`)).body.Results;

/** Counts the rows of a user in each table. */
async function countRows(uuid: string): Promise<Record<string, number>> {
  const ofUsers = ['users', 'user_identifiers', 'user_roles', 'user_words', 'user_values'];
  const rows = [...ofUsers, 'sessions', 'group_members'].map(async (table) => {
    const column = table === 'users' ? 'uuid' : 'user_uuid';
    const sql = `SELECT COUNT(*) AS n FROM ${table} WHERE ${column} = ?`;
    const row = await databaseOf(app).queryOne<{ n: number }>(sql, [uuid]);
    return [table, Number(row?.n)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

const ATTRIBUTES = {
  displayName: 'Zaphod Beeblebrox',
  employeeNumber: 'E-42',
  emails: [
    { type: 'home', value: 'zaphod@home.example.org' },
    { type: 'work', primary: true },
  ],
};

describe('a deleted user', () => {
  let user: Json;
  let group: string;
  beforeEach(async () => {
    user = await create(app.key, { password: PASSWORD, external_id: uuidv7(), roles: ['Editor'] });
    await applyAll([update(user.uuid, { attributes: ATTRIBUTES })]);
    group = (await aGroup(app, { roles: ['Author'], members: [user.uuid] })).uuid;
  });

  test('is not found by any route', async () => {
    const session = await app.login(user.username, PASSWORD);
    const stored = { user_roles: 2, user_values: 4, sessions: 1, group_members: 1 };
    expect(await countRows(user.uuid)).toMatchObject(stored);
    expect(await applyAll([deletion(user.uuid)])).toEqual(['deleted']);

    expect((await app.key.get(`/users/${user.uuid}`)).status).toBe(404);
    expect((await app.key.put(`/users/${user.uuid}`, { phone: '1' })).status).toBe(404);
    const { username, external_id } = user;
    for (const query of [`username=${username}`, 'fulltext_search=zaphod', `external_id=${external_id}`])
      expect((await app.key.get(`/users/search?${query}`)).body.Count).toBe(0);
    expect((await session.get('/users/me')).status).toBe(401);
    await expect(app.login(user.username, PASSWORD)).rejects.toThrow();
    expect(Object.values(await countRows(user.uuid))).toEqual(Array(7).fill(0));
    const row = await databaseOf(app).queryOne('SELECT version FROM user_groups WHERE uuid = ?', [group]);
    expect(row).toEqual({ version: 2 });
    expect(await applyAll([deletion(user.uuid)])).toEqual(['not_found']);
  });

  test('leaves the old values in the audit event', async () => {
    const { all, matching } = await app.app.get(UserCounts).countUsers(['Active']);
    await applyAll([deletion(user.uuid)]);
    const after = { all: all - 1, matching: matching - 1 };
    expect(await app.app.get(UserCounts).countUsers(['Active'])).toMatchObject(after);
    const [event] = await readEvents(user.uuid);
    expect(event.action).toBe('user.deleted');
    expect(event.changes).toContainEqual({ field: 'username', old: user.username, new: null });
    expect(event.changes).toContainEqual({ field: 'attributes.employeeNumber', old: 'E-42', new: null });
    expect(event.changes).toContainEqual({ field: 'groups', old: [group], new: null });
    expect(event.changes).toContainEqual({ field: 'password' });
  });

  test('is restored without the groups', async () => {
    const before = await read(user.uuid);
    const { matching, all } = await app.app.get(UserCounts).countUsers(['Active']);
    await applyAll([deletion(user.uuid)]);
    const path = `/users/${user.uuid}/restore`;
    const restored = await app.key.post(path);
    expect([restored.status, restored.body]).toEqual([200, await read(user.uuid)]);
    const { updated: _, ...rest } = restored.body;
    const { updated: _u, ...had } = before;
    expect(rest).toEqual({ ...had, group_roles: [] });
    expect((await app.key.get('/users/search?fulltext_search=zaphod')).body.Count).toBe(1);
    expect(await countRows(user.uuid)).toMatchObject({ user_roles: 1, user_values: 4, group_members: 0 });
    expect(await app.app.get(UserCounts).countUsers(['Active'])).toMatchObject({ matching, all });
    expect((await app.login(user.username, PASSWORD)).headers['cookie']).toBeDefined();
    const { Results } = (await app.key.get(`/audit?target=${user.uuid}&action=user.restored`)).body;
    expect(Results).toMatchObject([{ actor: { kind: 'key' } }]);
    expect((await app.key.post(path)).status).toBe(404);
    await applyAll([deletion(user.uuid)]);
  });

  test('can be restored only while the username is free', async () => {
    await applyAll([deletion(user.uuid)]);
    const heir = await create(app.key, {
      username: user.username,
      external_id: user.external_id,
      firstname: 'Zoe',
    });
    const conflict = await app.key.post(`/users/${user.uuid}/restore`);
    const { uuid, username } = heir;
    const conflicts = ['username', 'external_id'].map((field) => ({ field, uuid, username, name: 'Zoe' }));
    expect([conflict.status, conflict.body.conflicts]).toEqual([409, conflicts]);
    expect((await app.key.get(`/users/${user.uuid}`)).status).toBe(404);
    await applyAll([deletion(heir.uuid)]);

    const boss = await create(app.key, { roles: ['Webmaster'] });
    await applyAll([deletion(boss.uuid as string)]);
    const { client: narrow } = await aKey(app, 'users:write');
    const refused = await narrow.post(`/users/${boss.uuid}/restore`);
    expect(problemOf(refused)).toEqual([403, 'insufficient_scope']);
    expect((await app.key.post(`/users/${boss.uuid}/restore`)).status).toBe(200);
    await applyAll([deletion(boss.uuid as string)]);
  });

  test('is listed by GET /users/deleted', async () => {
    const since = new Date().toISOString();
    await applyAll([deletion(user.uuid)]);
    const other = await create(app.key);
    await applyAll([deletion(other.uuid)]);
    const { body } = await app.key.get(`/users/deleted?since=${since}`);
    expect(body.Count).toBe(2);
    const deleted = expect.stringMatching(/Z$/) as unknown;
    const { uuid, username, email, external_id, roles } = user;
    const final_removal = deleted;
    const shown = { uuid, username, email, external_id, roles, deleted, final_removal, reason: '' };
    expect(body.Results[0]).toMatchObject({ ...shown, deleted_by: { kind: 'system', id: null, name: '' } });
    const list = async (query: string) =>
      (await app.key.get(`/users/deleted?since=${since}&${query}`)).body.Results.map((one: Json) => one.uuid);
    expect(await list('limit=1&offset=1')).toEqual([other.uuid]);
    expect(await list('order=desc')).toEqual([other.uuid, user.uuid]);
    expect(await list(`uuid=${user.uuid.toUpperCase()}`)).toEqual([user.uuid]);
    for (const text of [user.username.toUpperCase(), user.email, user.external_id, `"${user.username}`])
      expect(await list(`search=${encodeURIComponent(text)}`)).toEqual(
        text.startsWith('"') ? [] : [user.uuid],
      );
    expect(await list('search=%25')).toEqual([]);
  });
});

describe('DELETE /users/{user_id}', () => {
  const remove = (client: typeof app.key, uuid: string, headers?: Record<string, string>) =>
    client.delete(`/users/${uuid}`, headers);

  test('moves the user to the deleted users with the actor and the reason', async () => {
    const { user, client } = await aPerson(app);
    const webmaster = await app.login();
    const stale = await remove(webmaster, user.uuid, { 'If-Match': '"99.0.full"' });
    expect(problemOf(stale)).toEqual([412, 'precondition_failed']);
    const headers = { 'If-Match': '"1.0.full"', 'X-Audit-Reason': 'left the company' };
    const answer = await remove(webmaster, user.uuid, headers);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await client.get('/users/me')).status).toBe(401);
    expect(problemOf(await remove(webmaster, user.uuid))).toEqual([404, 'not_found']);
    const { Results } = (await app.key.get(`/users/deleted?uuid=${user.uuid}`)).body;
    const deleted_by = { kind: 'user', name: 'admin' };
    expect(Results).toMatchObject([{ username: user.username, deleted_by, reason: 'left the company' }]);
    const [event] = (await app.key.get(`/audit?target=${user.uuid}`)).body.Results;
    expect(event).toMatchObject({ action: 'user.deleted', reason: 'left the company' });
  });

  test.each([
    ['the account of the caller', 'self', [403, 'self_block']],
    ['the last Webmaster', 'key', [409, 'last_webmaster']],
    ['a Webmaster without the scope webmasters', 'narrow', [403, 'insufficient_scope']],
  ])('does not delete %s', async (_, who, refusal) => {
    const admin = await app.login();
    const { uuid } = (await admin.get('/users/me')).body;
    const createNarrowClient = async () => (await aKey(app, 'users:write')).client;
    const client = who === 'self' ? admin : who === 'key' ? app.key : await createNarrowClient();
    expect(problemOf(await remove(client, uuid))).toEqual(refusal);
  });
});

/** Deletions are validated with the other changes of their set (ADR 23) and count towards the fuse of the API key. */
const restore = (uuid: string): Promise<unknown> => app.app.get(DeletedUsers).restore(uuid, SYSTEM);

/** Builds a caller with an API key that has these scopes, or every permission if `scopes` is null. */
function buildKeyCaller(scopes: KeyActor['rights']['scopes']): Caller {
  const id = uuidv7();
  const rights = { scopes, networks: null, expires: null };
  const limits = { ignoresUnknownFields: false, profile: 'standard', rights } as const;
  return { ...SYSTEM, actor: { kind: 'key', id, ...limits } };
}

describe('a deletion', () => {
  test('clears the manager of every report', async () => {
    const boss = await create(app.key);
    const reports = [await create(app.key), await create(app.key), await create(app.key)];
    const [a, b, c] = reports.map(({ uuid }) => uuid as string) as [string, string, string];
    for (const uuid of [a, b, c]) await app.key.put(`/users/${uuid}`, { manager_uuid: boss.uuid });
    const changes = [update(b, { phone: '7' }), update(c, { username: 'admin' }), deletion(boss.uuid)];
    expect(await applyAll(changes)).toEqual(['updated', 'username_taken', 'deleted']);
    for (const uuid of [a, b, c]) {
      expect((await read(uuid)).manager_uuid).toBe(null);
      const [{ action, changes }] = (await readEvents(uuid)) as [Json];
      expect(action).toBe('user.updated');
      expect(changes).toContainEqual({ field: 'manager_uuid', old: boss.uuid, old_name: '', new: null });
    }
    await restore(boss.uuid);
    expect((await read(a)).manager_uuid).toBe(null);
  });

  test('prevents other changes from assigning the deleted user as manager', async () => {
    const [boss, report] = [await create(app.key), await create(app.key)];
    const named = update(report.uuid, { manager_uuid: boss.uuid });
    expect(await applyAll([named, deletion(boss.uuid)])).toEqual(['validation_failed', 'deleted']);
    const other = await create(app.key);
    const late = update(report.uuid, { manager_uuid: other.uuid });
    const outcomes = await applyAll([late, deletion(other.uuid, { ifVersions: [99] })]);
    expect(outcomes).toEqual(['updated', 'precondition_failed']);
  });

  test('of a user together with the manager succeeds', async () => {
    const [boss, report] = [await create(app.key), await create(app.key)];
    await app.key.put(`/users/${report.uuid}`, { manager_uuid: boss.uuid });
    expect(await applyAll([deletion(boss.uuid), deletion(report.uuid)])).toEqual(['deleted', 'deleted']);
    await restore(report.uuid);
    expect((await read(report.uuid)).manager_uuid).toBe(null);
    await restore(boss.uuid);
  });

  test('frees the username in the change set only on success', async () => {
    const [a, b] = [await create(app.key), await create(app.key)];
    const takeName = (name: string): UserChange => ({
      kind: 'create',
      uuid: uuidv7(),
      patch: { username: name, email: `${uuidv7()}@example.org` },
    });
    expect(await applyAll([takeName(a.username), deletion(a.uuid)])).toEqual(['created', 'deleted']);
    const outcomes = await applyAll([takeName(b.username), deletion(b.uuid, { ifVersions: [99] })]);
    expect(outcomes).toEqual(['username_taken', 'precondition_failed']);
  });

  test('during an import makes only the row of that user fail', async () => {
    const [gone, kept] = [uuidv7(), uuidv7()];
    const file = (surname: string) =>
      csv(
        'ExternalId,Username,Email,Surname',
        ...[gone, kept].map((id) => `${id},${id},${id}@example.org,${surname}`),
      );
    await runImport(app.key, file('Old'), 'dataset=deletion');
    const { uuid } = await findUser(app.key, gone);
    aroundApply(app, () => applyAll([deletion(uuid as string)]));
    const run = await runImport(app.key, file('New'), 'dataset=deletion');
    expect(run).toMatchObject({ state: 'completed_with_errors', counts: { updated: 1, error: 1 } });
    expect((await rowsOf(app.key, run.id as string, 'outcome=error'))[0]?.errors[0].code).toBe('not_found');
    expect((await app.key.get(`/users/${uuid as string}`)).status).toBe(404);
    // The next import does not create the user again.
    expect((await runImport(app.key, file('New'), 'dataset=deletion')).counts).toMatchObject({ skipped: 1 });
  });
});

describe('the deletion rules', () => {
  const toActor = (user: Json): Actor => ({
    kind: 'user',
    id: user.uuid as string,
    username: user.username as string,
    roles: ['Webmaster'],
    sessionId: '',
  });

  test('protect the last active Webmaster', async () => {
    const admin = (await app.key.get('/users/search?username=admin')).body.Results[0].uuid as string;
    expect(await applyAll([deletion(admin)])).toEqual(['last_webmaster']);
    const other = await create(app.key);
    await applyAll([update(other.uuid, { group_roles: ['Webmaster'] })]);
    expect(await applyAll([deletion(admin), deletion(other.uuid)])).toEqual(['deleted', 'last_webmaster']);
    await restore(admin);
    expect(await applyAll([deletion(other.uuid)])).toEqual(['deleted']);
    await restore(other.uuid);
    expect(await app.app.get(UserCounts).count('webmasters')).toBe(1);
  });

  test('prevent users from deleting themselves', async () => {
    const user = await create(app.key, { roles: ['Webmaster'] });
    const actor = toActor(user);
    const people = { initiator: actor, approver: null };
    const byImport: Actor = { kind: 'import', id: '', ...people, allowsPrivileged: true };
    for (const who of [actor, byImport])
      expect(await applyAll([deletion(user.uuid)], { ...SYSTEM, actor: who })).toEqual(['self_block']);
  });

  test('require the webmasters scope to delete a Webmaster', async () => {
    const user = await create(app.key, { roles: ['Webmaster'] });
    expect(await applyAll([deletion(user.uuid, { ifVersions: [2] })])).toEqual(['precondition_failed']);
    const narrow = buildKeyCaller(['users:write']);
    expect(await applyAll([deletion(user.uuid)], narrow)).toEqual(['insufficient_scope']);
    expect(await applyAll([deletion(user.uuid, { ifVersions: [1] })])).toEqual(['deleted']);
  });
});

test('the key fuse counts deleted and blocked users together', async () => {
  const strict = await TestApp.startOn(app.database, { FUSE_MIN: '3', FUSE_PERCENT: '1' });
  const caller = buildKeyCaller(null);
  const people = [await create(app.key), await create(app.key), await create(app.key), await create(app.key)];
  const [a, b, c, d] = people.map(({ uuid }) => uuid as string) as [string, string, string, string];
  await writeUsers(strict, [update(a, { status: 'Blocked' }), deletion(b), deletion(c)], caller);
  await expect(writeUsers(strict, [deletion(d)], caller)).rejects.toMatchObject({ code: 'fuse_blown' });
  expect((await read(d)).status).toBe('Active');
  await strict.stop();
});
