import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../../src/access/actor.js';
import { TransactionRunner } from '../../../src/platform/database/transaction-runner.js';
import type { ChangeOutcome, UserChange } from '../../../src/users/writer/change-set.js';
import { toFailureProblem } from '../../../src/users/rules/failure.js';
import { UserWriter } from '../../../src/users/writer/user-writer.service.js';
import { DeletedUsers } from '../../../src/users/deleted-users.service.js';
import type { TestApp } from './app.js';
import { create } from '../data/factories.js';
import { databaseOf, inSeconds } from './people.js';

/** The caller for changes by the service itself. */
export const SYSTEM: Caller = { actor: { kind: 'system', id: null }, requestId: 'test', ip: '127.0.0.1' };

/** Applies a change set with the user writer, as every entry point does. */
export function writeUsers(
  { app }: TestApp,
  changes: readonly UserChange[],
  caller = SYSTEM,
): Promise<ChangeOutcome[]> {
  return app.get(TransactionRunner).run((tx) => app.get(UserWriter).apply(tx, changes, caller), caller);
}

export const update = (uuid: string, patch: UserChange['patch']): UserChange => ({
  kind: 'update',
  uuid,
  patch,
});

/** Returns the outcome of each change, or the code of its error. */
export const codesOf = (outcomes: readonly ChangeOutcome[]): string[] =>
  outcomes.map((each) => (each.outcome === 'error' ? toFailureProblem(each.failures).code : each.outcome));

export const deletion = (uuid: string, more: Partial<UserChange> = {}): UserChange => ({
  kind: 'delete',
  uuid,
  patch: {},
  ...more,
});

/** Deletes and restores a user. Returns actor and target of the audit events. */
export async function aRestoredUser(app: TestApp): Promise<{ actor: string; target: string }> {
  const uuid = (await create(app.key)).uuid as string;
  await writeUsers(app, [deletion(uuid)]);
  await app.app.get(DeletedUsers).restore(uuid, SYSTEM);
  return { actor: 'system', target: uuid };
}

/**
 * Deletes, lists and restores a user with attributes, a group and a report. Then deletes the user again and purges
 * them.
 */
export async function deleteAndRestore(app: TestApp, boss: string, report: string): Promise<void> {
  const database = databaseOf(app);
  const patch = { attributes: { displayName: 'Zaphod', department: 'Sales' }, group_roles: ['Author'] };
  await writeUsers(app, [{ kind: 'update', uuid: boss, patch }]);
  await writeUsers(app, [{ kind: 'update', uuid: boss, patch: { attributes: { department: 'Support' } } }]);
  const group = uuidv7();
  await database.execute(
    `INSERT INTO user_groups (uuid, display_name, display_name_key, created, updated, version) VALUES (?, ?, ?, ?, ?, 1)`,
    [group, group, group, inSeconds(0), inSeconds(0)],
  );
  await database.execute('INSERT INTO group_members (group_uuid, user_uuid) VALUES (?, ?)', [group, boss]);
  await app.key.put(`/users/${report}`, { manager_uuid: boss });
  await app.key.post(`/users/${boss}/password`, {});
  await app.key.delete(`/users/${boss}`);
  await app.key.get('/users/deleted?since=2026-01-01T00:00:00.000Z&limit=1&offset=0');
  await app.key.get(`/users/deleted?uuid=${boss}&order=desc`);
  await app.key.get('/users/deleted?search=zaphod');
  await app.key.post(`/users/${boss}/restore`);
  await writeUsers(app, [deletion(boss)]);
  await database.execute('UPDATE deleted_users SET deleted = ? WHERE uuid = ?', [
    inSeconds(-40 * 24 * 3600),
    boss,
  ]);
  await app.app.get(DeletedUsers).purge();
}
