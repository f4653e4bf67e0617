import { beforeAll, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { FileStore } from '../../src/import/file/file-store.js';
import { ImportOptions } from '../../src/import/runs/import-options.js';
import { RunQueue } from '../../src/import/apply/run-queue.service.js';
import { ImportsService } from '../../src/import/imports.service.js';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import { Leases } from '../../src/platform/database/leases/leases.service.js';
import { IMPORT_LEASE } from '../../src/import/runs/run-transitions.service.js';
import { setUpApp } from '../support/app/app.js';
import { countsOf, awaitRun } from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';

/** Stored parts of a file between its upload and its run. */
const CALLER = { actor: { kind: 'system', id: null }, requestId: 'test', ip: '' } as const;
/** Returns the id of a file that a killed service claimed days ago. */
const idOf = (name: string) => `01900000-0000-7000-8000-${name.padStart(12, '0')}`;
const app = setUpApp();
let store: FileStore;
let queue: RunQueue;
beforeAll(async () => {
  store = app.app.get(FileStore);
  queue = app.app.get(RunQueue);
});

const options = new ImportOptions();
const toStream = (id: string) => Readable.from([Buffer.from(fileOf(id))]);

test('an upload can be repeated if the stored file was purged', async () => {
  const id = idOf('a');
  const stored = await store.store('a.csv', toStream('a'), id);
  await app.app.get(ImportsService).purge();
  await expect(queue.submit(stored, options, CALLER)).rejects.toMatchObject({ code: 'unavailable' });
  await queue.submit(await store.store('a.csv', toStream('a'), id), options, CALLER);
  const run = await awaitRun(app.key, id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: 1 }]);
});

test('the file of a queued import cannot be purged or replaced', async () => {
  const id = idOf('b');
  const leases = new Leases(app.app.get(DATABASE));
  while (!(await leases.acquire(IMPORT_LEASE, 3600)));
  await queue.submit(await store.store('b.csv', toStream('b'), id), options, CALLER);
  await app.app.get(ImportsService).purge();
  await expect(store.store('b.csv', toStream('x'), id)).rejects.toMatchObject({ fault: 'duplicate' });
  await leases.release(IMPORT_LEASE);
  const run = await awaitRun(app.key, id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: 1 }]);
});
