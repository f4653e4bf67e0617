import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Json } from '../support/app/client.js';
import { type Credential, INVALIDATIONS, aKey, aWebmaster, changeUser } from '../support/app/credentials.js';
import { csv, decide, findUser, readRun as readRunOf, runImport } from '../support/app/imports.js';
import { HEAD, fileOf, people, person } from '../support/data/user-file.js';
import { PASSWORD, databaseOf, problemOf } from '../support/app/people.js';

/** Waiting runs are cancelled if their credential becomes invalid. Decisions cannot block the user who makes them. */
const app = setUpApp();
let other: TestApp;
beforeAll(async () => void (other = await app.startOther()));
afterEach(() => void jest.restoreAllMocks());

/** Creates a run that waits for approval because it blocks six of its seven users. */
async function createWaiting({ client }: Credential): Promise<{ id: string; first: string }> {
  const name = randomUUID();
  const file = (status: (i: number) => string) =>
    csv(`${HEAD},Status`, ...people(`${name}-`, 7, (i) => [status(i)]));
  const all = file(() => 'Active');
  expect((await runImport(app.key, all, `dataset=${name}`)).state).toBe('completed');
  const few = file((i) => (i > 0 ? 'Blocked' : 'Active'));
  const run = await runImport(client, few, `dataset=${name}`);
  expect(run.state).toBe('needs_approval');
  return { id: run.id, first: `${name}-1` };
}
const createPlan = async ({ client }: Credential): Promise<string> => {
  const run = await runImport(client, fileOf(randomUUID()), 'dry_run=true');
  expect(run.state).toBe('planned');
  return run.id as string;
};
const readRun = (id: string): Promise<Json> => readRunOf(app.key, id);
const endOf = ({ state, finished, problems }: Json) => [state, finished !== null, problems[0]?.code];
const ENDED = ['cancelled', true, 'credential_revoked'];
const endRevoked = (): Promise<void> => app.app.get(ImportWorker).endRevokedRuns();
const countParts = async (id: string): Promise<number> =>
  (await databaseOf(app).query<{ part: number }>('SELECT part FROM import_file_parts WHERE run_id = ?', [id]))
    .length;

/** Disables the import worker. */
const disableWorker = (): void => {
  jest.spyOn(app.app.get(ImportWorker), 'wake').mockImplementation(() => undefined);
  jest.spyOn(app.app.get(ImportWorker), 'endRevokedRuns').mockResolvedValue(undefined);
};

describe.each(INVALIDATIONS)('%s', (_, make, end) => {
  test('cancels imports that wait for a decision', async () => {
    const starter = await make(app);
    const [{ id, first }, plan] = [await createWaiting(starter), await createPlan(starter)];
    await end(app, starter.id);
    await endRevoked();
    const run = await readRun(id);
    expect(endOf(run)).toEqual(ENDED);
    expect(run.problems[0].message).toContain(starter.id);
    expect(endOf(await readRun(plan))).toEqual(ENDED);
    expect((await findUser(app.key, first)).status).toBe('Active');
    expect({ run: await countParts(id), plan: await countParts(plan) }).toEqual({ run: 0, plan: 0 });
    const last = (await readAuditRows(app, id)).at(-1);
    expect(last?.action).toBe('import.cancelled');
    expect(last?.changes).toContain('credential_revoked');
  });

  test('blocks the approval of a waiting import', async () => {
    const starter = await make(app);
    const { id, first } = await createWaiting(starter);
    disableWorker();
    await end(app, starter.id);
    expect(problemOf(await app.key.post(`/imports/${id}/apply`))).toEqual([409, 'wrong_state']);
    expect(endOf(await readRun(id))).toEqual(ENDED);
    expect((await findUser(app.key, first)).status).toBe('Active');
  });
});

test('the import worker cancels waiting imports of a revoked API key', async () => {
  const starter = await aKey(app);
  const { id } = await createWaiting(starter);
  await app.key.delete(`/api_keys/${starter.id}`);
  const worker = app.app.get(ImportWorker);
  const end = worker.endRevokedRuns.bind(worker);
  await new Promise<void>((resolve) => {
    // The current pass may have read the runs before the key was revoked.
    jest.spyOn(worker, 'endRevokedRuns').mockImplementation(() => end().finally(resolve));
  });
  expect(endOf(await readRun(id))).toEqual(ENDED);
});

test('a logout does not cancel a waiting import', async () => {
  const [key, webmaster] = [await aKey(app), await aWebmaster(app)];
  const ids = [(await createWaiting(key)).id, (await createWaiting(webmaster)).id, await createPlan(key)];
  expect((await webmaster.client.post('/sessions/logout')).status).toBe(200);
  await endRevoked();
  const states = await Promise.all(ids.map(async (id) => (await readRun(id)).state as string));
  expect(states).toEqual(['needs_approval', 'needs_approval', 'planned']);
});

test('an import with a revoked key is cancelled even if 250 imports wait', async () => {
  const [starter, keeper] = [await aKey(app), await aKey(app)];
  const { id } = await createWaiting(starter);
  const columns = 'dataset, options, file_name, file_size, file_sha256, actor_kind, request_id, ip, created';
  const waiting = Array.from({ length: 250 }, () => `00000000${randomUUID().slice(8)}`); // ids that sort first
  for (const copy of waiting) {
    const insert = `INSERT INTO import_runs (id, state, actor_id, ${columns}) SELECT ?, state, ?, ${columns}`;
    await databaseOf(app).execute(`${insert} FROM import_runs WHERE id = ?`, [copy, keeper.id, id]);
  }
  await app.key.delete(`/api_keys/${starter.id}`);
  for (let i = 0; i < 5; i++) await endRevoked();
  expect(endOf(await readRun(id))).toEqual(ENDED);
  for (const copy of waiting) await databaseOf(app).execute('DELETE FROM import_runs WHERE id = ?', [copy]);
});

test('two instances cancel the waiting import of a revoked key once', async () => {
  const starter = await aKey(app);
  const { id } = await createWaiting(starter);
  await app.key.delete(`/api_keys/${starter.id}`);
  await Promise.all([endRevoked(), other.app.get(ImportWorker).endRevokedRuns()]);
  const ends = (await readAuditRows(app, id)).filter(({ action }) => action === 'import.cancelled');
  expect(ends).toHaveLength(1);
});

describe('a Webmaster', () => {
  const COLUMNS = `${HEAD},Status,Roles`;
  const PRIVILEGED = 'allow_privileged=true';

  test('cannot apply an import that blocks this Webmaster', async () => {
    const externalId = randomUUID();
    const { id: uuid, client } = await aWebmaster(app, { external_id: externalId });
    const file = csv(COLUMNS, `${externalId},,,Blocked,`);
    const { id } = await runImport(app.key, file, `dry_run=true&${PRIVILEGED}`);
    expect(problemOf(await client.post(`/imports/${id as string}/apply`))).toEqual([403, 'self_block']);
    expect((await readRun(id)).state).toBe('planned');
    expect((await decide(await app.login(), id, 'apply')).state).toBe('completed');
    expect((await app.key.get(`/users/${uuid}`)).body.status).toBe('Blocked');
  });

  test('can apply an import that changes the phone of this Webmaster', async () => {
    const externalId = randomUUID();
    const { client } = await aWebmaster(app, { external_id: externalId });
    const file = csv('ExternalId,Phone', `${externalId},+441`);
    const { id } = await runImport(app.key, file, 'dry_run=true&dataset=x');
    expect((await decide(client, id, 'apply')).state).toBe('completed');
  });

  test('is not blocked by a revert that this Webmaster starts', async () => {
    const name = randomUUID();
    const run = await runImport(app.key, csv(COLUMNS, person(name, 'Active', 'Webmaster')), PRIVILEGED);
    const { uuid } = await findUser(app.key, name);
    await changeUser(app, uuid, { password: PASSWORD });
    const reverted = await decide(await app.login(name, PASSWORD), run.id, 'revert');
    expect([reverted.state, reverted.problems[0].code]).toEqual(['completed_with_errors', 'self_block']);
    expect((await findUser(app.key, name)).status).toBe('Active');
  });
});
