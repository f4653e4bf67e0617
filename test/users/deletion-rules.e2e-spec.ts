import { describe, expect, jest, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { Actor, Caller, KeyActor } from '../../src/access/actor.js';
import { Applier } from '../../src/import/apply/applier.service.js';
import { UserCounts } from '../../src/users/writer/user-counts.service.js';
import type { UserChange } from '../../src/users/writer/change-set.js';
import { DeletedUsers } from '../../src/users/deleted-users.service.js';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { SYSTEM, codesOf, deletion, update, writeUsers } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { csv, runImport, findUser, rowsOf } from '../support/app/imports.js';

/** Deletions are validated with the other changes of their set (ADR 23) and count towards the fuse of the API key. */
const app = setUpApp();

/** Applies a change set. Returns the outcome of each change, or the code of its error. */
const applyAll = async (changes: UserChange[], caller?: Caller): Promise<string[]> =>
  codesOf(await writeUsers(app, changes, caller));
const read = async (uuid: string): Promise<Json> => (await app.key.get(`/users/${uuid}`)).body;
const restore = (uuid: string): Promise<unknown> => app.app.get(DeletedUsers).restore(uuid, SYSTEM);
const readEvents = async (uuid: string): Promise<Json[]> =>
  (await app.key.get(`/audit?target=${uuid}`)).body.Results;

/** Builds a caller with an API key that has these scopes, or every permission if they are null. */
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
    const applier = app.app.get(Applier);
    const applied = applier.apply.bind(applier);
    jest.spyOn(applier, 'apply').mockImplementationOnce(async (...run) => {
      await applyAll([deletion(uuid as string)]);
      await applied(...run);
    });
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
