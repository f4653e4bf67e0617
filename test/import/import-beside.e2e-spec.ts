import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { unavailable } from '../../src/common/errors.js';
import { ImportRunsRepository } from '../../src/import/runs/import-runs.repository.js';
import { TestApp } from '../support/app/app.js';
import { counted, csv, imported, linked, rowsOf, settled, upload } from '../support/app/imports.js';
import type { Json } from '../support/app/client.js';

/** What happens during a run: an operator stops it, another client changes a user. */
let app: TestApp;
jest.setTimeout(120_000); // each test imports thousands of rows
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const ROWS = 4000;
const BATCH = 25;
const file = (prefix: string) =>
  csv(
    'ExternalId,Username,Email',
    ...Array.from({ length: ROWS }, (_, i) => `${prefix}${i},${prefix}${i},${prefix}${i}@example.org`),
  );
/** The run as soon as `is` is true. */
const seen = async (id: string, is: (run: Json) => boolean): Promise<Json> => {
  for (;;) {
    const run = (await app.key.get(`/imports/${id}`)).body;
    if (is(run)) return run;
    if (!['queued', 'validating', 'applying'].includes(run.state))
      throw new Error(`too late: ${run.state as string}`);
  }
};
const users = async () => (await app.key.get('/users/search?limit=1')).body.Count as number;

test('a run that is writing stops at its next batch: what is written stays, the rest is skipped', async () => {
  const before = await users();
  const { id } = (await upload(app.key, file('w'))).body;
  await seen(id, ({ state }) => state === 'applying');
  while ((await users()) === before) await seen(id, ({ state }) => state === 'applying');
  expect((await app.key.post(`/imports/${id as string}/cancel`)).status).toBe(202);
  const run = await settled(app.key, id);
  const { created = 0, skipped = 0 } = counted(run);
  expect([run.state, created + skipped, created % BATCH]).toEqual(['cancelled', ROWS, 0]);
  expect(created).toBeGreaterThan(0);
  expect(skipped).toBeGreaterThan(0);
  const [left] = (await app.key.get(`/imports/${id as string}/rows?outcome=skipped&limit=1`)).body.Results;
  expect(left).toMatchObject({ uuid: null, changes: [] });
  expect(await users()).toBe(before + created);
  const [first] = await rowsOf(app.key, id, 'outcome=skipped&limit=1');
  expect(first).toMatchObject({ line: created + 2, changes: [] });
});

test('a run that is planning stops and has written nothing', async () => {
  const before = await users();
  const { id } = (await upload(app.key, file('p'))).body;
  await seen(id, ({ state, progress }) => state === 'validating' && progress.rows_done > 0);
  expect((await app.key.post(`/imports/${id as string}/cancel`)).status).toBe(202);
  const run = await settled(app.key, id);
  expect([run.state, counted(run), await users()]).toEqual(['cancelled', {}, before]);
  expect(await rowsOf(app.key, id)).toEqual([]);
});

test('a user that is changed between plan and batch keeps the change', async () => {
  const last = `w${ROWS - 1}`;
  await imported(app.key, file('w'));
  const user = await linked(app.key, last);
  const again = file('w').replaceAll('@example.org', '@example.com');
  const { id } = (await upload(app.key, again, 'dataset=other')).body;
  const parked = await settled(app.key, id);
  expect(parked.state).toBe('needs_approval');
  await app.key.post(`/imports/${id as string}/apply`);
  await seen(id, ({ state }) => state === 'applying');
  expect((await app.key.put(`/users/${user.uuid as string}`, { phone: '7' })).status).toBe(200);
  const run = await settled(app.key, id);
  expect([run.state, counted(run)]).toEqual(['completed_with_errors', { updated: ROWS - 1, error: 1 }]);
  expect(run.problems).toMatchObject([{ line: ROWS + 1, code: 'precondition_failed' }]);
  expect(await linked(app.key, last)).toMatchObject({ phone: '7', email: user.email });
});

test('a batch and its checkpoint are committed or rolled back together', async () => {
  const runs = app.app.get(ImportRunsRepository);
  const update = runs.update.bind(runs);
  let hasFailed = false;
  const spy = jest.spyOn(runs, 'update').mockImplementation(async (sql, id, change) => {
    // The database goes away between the rows of a transaction and its checkpoint.
    if (!hasFailed && (change.appliedBatches ?? 0) > 1) {
      hasFailed = true;
      throw unavailable('It is away.');
    }
    return update(sql, id, change);
  });
  const { id } = (await upload(app.key, file('t'), 'dataset=together')).body;
  const run = await settled(app.key, id);
  spy.mockRestore();
  expect(hasFailed).toBe(true);
  expect([run.state, counted(run)]).toEqual(['completed', { created: ROWS }]);
});

test('waiting imports run in the order of their arrival', async () => {
  const send = async (body: string): Promise<string> => (await upload(app.key, body)).body.id;
  const first = await send(file('a'));
  const second = await send(csv('ExternalId,Username,Email', 'y,y,y@example.org'));
  const third = await send(csv('ExternalId,Username,Email', 'z,z,z@example.org'));
  const states = [second, third].map(async (id) => (await app.key.get(`/imports/${id}`)).body.state);
  expect(await Promise.all(states)).toEqual(['queued', 'queued']);
  await app.key.post(`/imports/${first}/cancel`);
  const [before, after] = [await settled(app.key, second), await settled(app.key, third)];
  expect([before.state, after.state]).toEqual(['completed', 'completed']);
  expect(before.finished <= after.started).toBe(true);
  expect((await settled(app.key, first)).state).toBe('cancelled');
});
