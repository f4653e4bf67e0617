import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { TestApp } from '../support/app/app.js';
import { auditRows } from '../support/app/audit-rows.js';
import type { Json } from '../support/app/client.js';
import { type Credential, ENDS, aKey, aWebmaster, changeUser } from '../support/app/credentials.js';
import { csv, imported, linked, settled } from '../support/app/imports.js';
import { HEAD, fileOf, people, person } from '../support/data/user-file.js';
import { PASSWORD, databaseOf, problemOf } from '../support/app/people.js';

/** A run that waits for a decision ends with the credential that started it, and nobody blocks themselves with a decision. */
let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
  other = await TestApp.on(app.database);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  await other.stop();
  await app.end();
});

/** A run that parks: it blocks six of its seven users. */
async function parked({ client }: Credential): Promise<{ id: string; first: string }> {
  const name = randomUUID();
  const file = (status: (i: number) => string) =>
    csv(`${HEAD},Status`, ...people(`${name}-`, 7, (i) => [status(i)]));
  const all = file(() => 'Active');
  expect((await imported(app.key, all, `dataset=${name}`)).state).toBe('completed');
  const few = file((i) => (i > 0 ? 'Blocked' : 'Active'));
  const run = await imported(client, few, `dataset=${name}`);
  expect(run.state).toBe('needs_approval');
  return { id: run.id, first: `${name}-1` };
}
const planned = async ({ client }: Credential): Promise<string> => {
  const run = await imported(client, fileOf(randomUUID()), 'dry_run=true');
  expect(run.state).toBe('planned');
  return run.id as string;
};
const read = async (id: string): Promise<Json> => (await app.key.get(`/imports/${id}`)).body;
const why = ({ state, finished, problems }: Json): unknown[] => [state, finished !== null, problems[0]?.code];
const ENDED = ['cancelled', true, 'credential_revoked'];
const pass = (): Promise<void> => app.app.get(ImportWorker).endRevoked();
const partsOf = async (id: string): Promise<number> =>
  (await databaseOf(app).query<{ part: number }>('SELECT part FROM import_file_parts WHERE run_id = ?', [id]))
    .length;

/** Nothing is done unless a test does it. */
const withoutWorker = (): void => {
  jest.spyOn(app.app.get(ImportWorker), 'wake').mockImplementation(() => undefined);
  jest.spyOn(app.app.get(ImportWorker), 'endRevoked').mockResolvedValue(undefined);
};

describe.each(ENDS)('%s', (_, make, end) => {
  test('while its runs wait for a decision: they end without one', async () => {
    const starter = await make(app);
    const [{ id, first }, plan] = [await parked(starter), await planned(starter)];
    await end(app, starter.id);
    await pass();
    const run = await read(id);
    expect(why(run)).toEqual(ENDED);
    expect(run.problems[0].message).toContain(starter.id);
    expect(why(await read(plan))).toEqual(ENDED);
    expect((await linked(app.key, first)).status).toBe('Active');
    expect([await partsOf(id), await partsOf(plan)]).toEqual([0, 0]);
    const last = (await auditRows(app, id)).at(-1);
    expect([last?.action, last?.changes]).toEqual([
      'import.cancelled',
      expect.stringContaining('credential_revoked'),
    ]);
  });

  test('before its run is approved: the approval is refused, and the run has ended', async () => {
    const starter = await make(app);
    const { id, first } = await parked(starter);
    withoutWorker();
    await end(app, starter.id);
    expect(problemOf(await app.key.post(`/imports/${id}/apply`))).toEqual([409, 'wrong_state']);
    expect(why(await read(id))).toEqual(ENDED);
    expect((await linked(app.key, first)).status).toBe('Active');
  });
});

test('the worker looks by itself', async () => {
  const starter = await aKey(app);
  const { id } = await parked(starter);
  await app.key.delete(`/api_keys/${starter.id}`);
  const worker = app.app.get(ImportWorker);
  const look = worker.endRevoked.bind(worker);
  await new Promise<void>((resolve) => {
    // The pass that runs now may have looked before.
    jest.spyOn(worker, 'endRevoked').mockImplementation(() => look().finally(resolve));
  });
  expect(why(await read(id))).toEqual(ENDED);
});

test('runs of good credentials wait on, and so do those of people who have logged out', async () => {
  const [key, webmaster] = [await aKey(app), await aWebmaster(app)];
  const ids = [(await parked(key)).id, (await parked(webmaster)).id, await planned(key)];
  expect((await webmaster.client.post('/sessions/logout')).status).toBe(200);
  await pass();
  const states = await Promise.all(ids.map(async (id) => (await read(id)).state as string));
  expect(states).toEqual(['needs_approval', 'needs_approval', 'planned']);
});

test('all are looked at, however many wait', async () => {
  const [starter, keeper] = [await aKey(app), await aKey(app)];
  const { id } = await parked(starter);
  const columns = 'dataset, options, file_name, file_size, file_sha256, actor_kind, request_id, ip, created';
  const waiting = Array.from({ length: 250 }, () => `00000000${randomUUID().slice(8)}`); // before all others
  for (const copy of waiting) {
    await databaseOf(app).execute(
      `INSERT INTO import_runs (id, state, actor_id, ${columns})
       SELECT ?, state, ?, ${columns} FROM import_runs WHERE id = ?`,
      [copy, keeper.id, id],
    );
  }
  await app.key.delete(`/api_keys/${starter.id}`);
  for (let i = 0; i < 5; i++) await pass();
  expect(why(await read(id))).toEqual(ENDED);
  for (const copy of waiting) await databaseOf(app).execute('DELETE FROM import_runs WHERE id = ?', [copy]);
});

test('two instances that look at once end a run once', async () => {
  const starter = await aKey(app);
  const { id } = await parked(starter);
  await app.key.delete(`/api_keys/${starter.id}`);
  await Promise.all([pass(), other.app.get(ImportWorker).endRevoked()]);
  const ends = (await auditRows(app, id)).filter(({ action }) => action === 'import.cancelled');
  expect(ends).toHaveLength(1);
});

describe('nobody blocks themselves with a decision', () => {
  const COLUMNS = `${HEAD},Status,Roles`;
  const PRIVILEGED = 'allow_privileged=true';

  test('the approval of a plan that would block its approver is refused; another one is taken', async () => {
    const externalId = randomUUID();
    const { id: uuid, client } = await aWebmaster(app, { external_id: externalId });
    const file = csv(COLUMNS, `${externalId},,,Blocked,`);
    const { id } = await imported(app.key, file, `dry_run=true&${PRIVILEGED}`);
    expect(problemOf(await client.post(`/imports/${id as string}/apply`))).toEqual([403, 'self_block']);
    expect((await read(id)).state).toBe('planned');
    expect((await (await app.login()).post(`/imports/${id as string}/apply`)).status).toBe(202);
    expect((await settled(app.key, id)).state).toBe('completed');
    expect((await app.key.get(`/users/${uuid}`)).body.status).toBe('Blocked');
  });

  test('a plan that does something else to the approver may be approved', async () => {
    const externalId = randomUUID();
    const { client } = await aWebmaster(app, { external_id: externalId });
    const { id } = await imported(
      app.key,
      csv('ExternalId,Phone', `${externalId},+441`),
      'dry_run=true&dataset=x',
    );
    expect((await client.post(`/imports/${id as string}/apply`)).status).toBe(202);
    expect((await settled(app.key, id)).state).toBe('completed');
  });

  test('a revert does not block who has asked for it, and its plan says so', async () => {
    const name = randomUUID();
    const file = csv(COLUMNS, person(name, 'Active', 'Webmaster'));
    const run = await imported(app.key, file, PRIVILEGED);
    const { uuid } = await linked(app.key, name);
    await changeUser(app, uuid, { password: PASSWORD });
    const { body } = await (await app.login(name, PASSWORD)).post(`/imports/${run.id as string}/revert`);
    const reverted = await settled(app.key, body.id);
    expect({ state: reverted.state, code: reverted.problems[0].code }).toEqual({
      state: 'completed_with_errors',
      code: 'self_block',
    });
    expect((await linked(app.key, name)).status).toBe('Active');
  });
});
