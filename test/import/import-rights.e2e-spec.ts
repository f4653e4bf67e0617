import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createUnavailableError } from '../../src/platform/common/errors.js';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { PlanGuards } from '../../src/import/guards/plan-guards.service.js';
import { ImportRowsRepository } from '../../src/import/runs/import-rows.repository.js';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import type { Client, Json } from '../support/app/client.js';
import { INVALIDATIONS, aKey, aWebmaster, changeUser } from '../support/app/credentials.js';
import {
  awaitRun,
  countsOf,
  csv,
  decide,
  expectRun,
  findUser,
  runImport,
  upload,
} from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';

/** A run writes nothing after the credential that started or approved it becomes invalid. */
const app = setUpApp();
afterEach(() => void jest.restoreAllMocks());

/** Returns a file of one new Webmaster and `others` other users. */
function aFile(others = 0): { file: string; first: string; id: (i: number) => string } {
  const name = randomUUID();
  const id = (i: number): string => `${name}-${i}`;
  const rows = people(`${name}-`, others + 1, (i) => [i === 0 ? 'Webmaster' : '']);
  return { file: csv(`${HEAD},Roles`, ...rows), first: id(0), id };
}

/** Holds runs in the queue during `work`. */
async function holdQueue<T>(work: () => Promise<T>): Promise<T> {
  const worker = app.app.get(ImportWorker);
  const next = jest.spyOn(worker, 'wake').mockImplementation(() => undefined);
  try {
    return await work();
  } finally {
    next.mockRestore();
    worker.wake();
  }
}

const endOf = (run: Json): unknown[] => [run.state, run.problems[0]?.code, run.problems[0]?.line];
const CANCELLED = ['cancelled', 'credential_revoked', null];
const PRIVILEGED = 'allow_privileged=true';
const apply = async (client: Client, id: string): Promise<void> => {
  expect((await client.post(`/imports/${id}/apply`)).status).toBe(202);
};

describe.each(INVALIDATIONS)('%s', (_, make, end) => {
  test('cancels a queued import', async () => {
    const starter = await make(app);
    const { file, first } = aFile();
    const { id } = await holdQueue(async () => {
      const { body } = await upload(starter.client, file, PRIVILEGED);
      await end(app, starter.id);
      return body;
    });
    const run = await awaitRun(app.key, id);
    expect([...endOf(run), countsOf(run)]).toEqual([...CANCELLED, {}]);
    expect(run.problems[0].message).toContain(starter.id);
    expect(await findUser(app.key, first)).toBeUndefined();
  });

  test('cancels an approved dry run in the queue', async () => {
    const approver = await make(app);
    const { file, first } = aFile();
    const { id } = await runImport(app.key, file, `dry_run=true&${PRIVILEGED}`);
    await holdQueue(async () => {
      await apply(approver.client, id);
      await end(app, approver.id);
    });
    const run = await awaitRun(app.key, id);
    expect(endOf(run)).toEqual(CANCELLED);
    expect(run.approved_by.id).toBe(approver.id);
    expect(await findUser(app.key, first)).toBeUndefined();
  });

  test('stops an import between two batches', async () => {
    const starter = await make(app);
    const { file, id: externalId } = aFile(2999);
    const rows = app.app.get(ImportRowsRepository);
    const batches = rows.listBatchRows.bind(rows);
    let reads = 0;
    jest.spyOn(rows, 'listBatchRows').mockImplementation(async (...args) => {
      // By now the first batches are committed, and the next batches have not begun.
      if (++reads === 3) await end(app, starter.id);
      return batches(...args);
    });
    const query = `${PRIVILEGED}&dataset=${randomUUID()}`;
    const run = await awaitRun(app.key, (await upload(starter.client, file, query)).body.id);
    expect(endOf(run)).toEqual(CANCELLED);
    const { created = 0, skipped = 0 } = countsOf(run);
    expect(created).toBeGreaterThan(0);
    expect(skipped).toBeGreaterThan(0);
    expect(created + skipped).toBe(3000);
    expect(await findUser(app.key, externalId(2999))).toBeUndefined();
  });

  test('cancels a queued import revert', async () => {
    const { file, first } = aFile();
    const { id } = await runImport(app.key, file, PRIVILEGED);
    const starter = await make(app);
    const revert = await holdQueue(async () => {
      const { body } = await starter.client.post(`/imports/${id}/revert`);
      await end(app, starter.id);
      return body;
    });
    expect(endOf(await awaitRun(app.key, revert.id))).toEqual(CANCELLED);
    expect((await findUser(app.key, first)).status).toBe('Active');
    expect((await decide(app.key, id, 'revert')).state).toBe('completed');
  });

  test('does not cancel an import after the last batch', async () => {
    const starter = await make(app);
    aroundApply(
      app,
      () => Promise.resolve(),
      () => end(app, starter.id),
    );
    const { id } = (await upload(starter.client, aFile().file, PRIVILEGED)).body;
    expectRun(await awaitRun(app.key, id), 'completed', { created: 1 });
  });
});

test('a queued import completes if a demoted Webmaster is promoted again', async () => {
  const starter = await aWebmaster(app);
  const { id } = await holdQueue(async () => {
    const { body } = await upload(starter.client, aFile().file, PRIVILEGED);
    for (const role of ['Editor', 'Webmaster']) await changeUser(app, starter.id, { roles: [role] });
    return body;
  });
  expect((await awaitRun(app.key, id)).state).toBe('completed');
});

test.each<[string, (stop: () => Promise<never>) => void]>([
  ['validating', (stop) => jest.spyOn(app.app.get(PlanGuards), 'evaluate').mockImplementationOnce(stop)],
  [
    'writing',
    (stop) => {
      const rows = app.app.get(ImportRowsRepository);
      const batches = rows.listBatchRows.bind(rows);
      const next = jest.spyOn(rows, 'listBatchRows');
      next.mockImplementationOnce(batches).mockImplementationOnce(batches).mockImplementationOnce(stop);
    },
  ],
])('a revoked API key ends an import that was interrupted while %s', async (phase, interrupt) => {
  const countUsers = async () => (await app.key.get('/users/search?limit=1')).body.Count as number;
  const [starter, before] = [await aKey(app), await countUsers()];
  interrupt(async () => {
    await app.key.delete(`/api_keys/${starter.id}`);
    throw createUnavailableError('The database is unavailable.');
  });
  const { id } = (await upload(starter.client, aFile(2999).file, `${PRIVILEGED}&dataset=${phase}`)).body;
  const run = await awaitRun(app.key, id);
  expect(endOf(run)).toEqual(CANCELLED);
  const { created = 0, skipped = 0 } = countsOf(run);
  expect(created > 0).toBe(phase === 'writing');
  expect(skipped > 0).toBe(phase === 'writing');
  expect(created + skipped).toBe(phase === 'writing' ? 3000 : 0);
  expect(await countUsers()).toBe(before + created);
});
