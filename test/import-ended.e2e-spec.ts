import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { ImportRunsRepository } from '../src/import/run/import-runs.repository.js';
import { ImportWorker } from '../src/import/run/import.worker.js';
import { LeaseRepository } from '../src/import/run/lease.repository.js';
import { Leases } from '../src/import/run/leases.js';
import { setTimeout as delay } from 'node:timers/promises';
import { TestApp } from './support/app.js';
import { csv, imported, settled, upload } from './support/imports.js';

/** A worker has chosen a run, and somebody else ends it before the worker begins. */
let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await app.stop();
});

const file = (name: string) => csv('ExternalId,Username,Email', `${name},${name},${name}@example.org`);
const read = async (id: string) => (await app.key.get(`/imports/${id}`)).body;

test.each([1, 2])(
  'a run that another instance has completed stays as it is (stale answers: %i)',
  async (stale) => {
    const run = await imported(app.key, file(`stale${stale}`));
    const next = jest.spyOn(app.app.get(ImportRunsRepository), 'next');
    for (let i = 0; i < stale; i++) next.mockResolvedValueOnce(run.id);
    app.app.get(ImportWorker).wake();
    await imported(app.key, file(`after${stale}`));
    expect(next.mock.calls.length).toBeGreaterThan(stale);
    expect(await read(run.id)).toEqual(run);
  },
);

test('a run that an operator cancels in that moment stays cancelled', async () => {
  const runs = app.app.get(ImportRunsRepository);
  const choose = runs.next.bind(runs);
  const cancelled: number[] = [];
  let chosen = 0;
  jest.spyOn(runs, 'next').mockImplementation(async () => {
    const id = await choose();
    if (id !== undefined && ++chosen === 2) {
      cancelled.push((await app.key.post(`/imports/${id}/cancel`)).status);
    }
    return id;
  });
  const { body } = await upload(app.key, file('cancelled'));
  expect(await settled(app.key, body.id)).toMatchObject({ state: 'cancelled', problems: [] });
  await imported(app.key, file('next'));
  expect(cancelled).toEqual([202]);
  expect((await read(body.id)).state).toBe('cancelled');
});

test('work that lasts longer than its lease keeps it to its end, and nobody else begins', async () => {
  const others = app.app.get(LeaseRepository);
  const take = async () => others.take('long', '01a1fc00-0000-7000-8000-00000000beef', 2);
  const held = await app.app.get(Leases).hold('long', 2, async () => {
    expect(await take()).toBe(false);
    await delay(3000);
    expect(await take()).toBe(false);
  });
  expect([held, await take()]).toEqual([true, true]);
  expect(await app.app.get(Leases).hold('long', 2, async () => Promise.reject(new Error('begun')))).toBe(
    false,
  );
});
