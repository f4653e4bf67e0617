import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createUnavailableError } from '../../src/platform/common/errors.js';
import { Applier } from '../../src/import/apply/applier.service.js';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { PlanGuards } from '../../src/import/guards/plan-guards.service.js';
import { ImportRowsRepository } from '../../src/import/runs/import-rows.repository.js';
import { TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { ENDS, aKey, aWebmaster, changeUser } from '../support/app/credentials.js';
import { counted, csv, imported, linked, settled, upload } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';

/** No change is written on behalf of a credential that would be refused now, whenever it stopped being good. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterEach(() => void jest.restoreAllMocks());
afterAll(() => app.end());

/** A file of one new Webmaster, and of other users. */
function aFile(others = 0): { file: string; first: string; id: (i: number) => string } {
  const name = randomUUID();
  const id = (i: number): string => `${name}-${i}`;
  const rows = people(`${name}-`, others + 1, (i) => [i === 0 ? 'Webmaster' : '']);
  return { file: csv(`${HEAD},Roles`, ...rows), first: id(0), id };
}

/** Runs wait in the queue while `work` is done. */
async function queued<T>(work: () => Promise<T>): Promise<T> {
  const worker = app.app.get(ImportWorker);
  const next = jest.spyOn(worker, 'wake').mockImplementation(() => undefined);
  try {
    return await work();
  } finally {
    next.mockRestore();
    worker.wake();
  }
}

const why = (run: Json): unknown[] => [run.state, run.problems[0]?.code, run.problems[0]?.line];
const CANCELLED = ['cancelled', 'credential_revoked', null];
const PRIVILEGED = 'allow_privileged=true';
const apply = async (client: Client, id: string): Promise<void> => {
  expect((await client.post(`/imports/${id}/apply`)).status).toBe(202);
};

describe.each(ENDS)('%s', (_, make, end) => {
  test('while its import waits in the queue: nothing is written', async () => {
    const starter = await make(app);
    const { file, first } = aFile();
    const { id } = await queued(async () => {
      const { body } = await upload(starter.client, file, PRIVILEGED);
      await end(app, starter.id);
      return body;
    });
    const run = await settled(app.key, id);
    expect([...why(run), counted(run)]).toEqual([...CANCELLED, {}]);
    expect(run.problems[0].message).toContain(starter.id);
    expect(await linked(app.key, first)).toBeUndefined();
  });

  test('of who has approved it: nothing is written', async () => {
    const approver = await make(app);
    const { file, first } = aFile();
    const { id } = await imported(app.key, file, `dry_run=true&${PRIVILEGED}`);
    await queued(async () => {
      await apply(approver.client, id);
      await end(app, approver.id);
    });
    const run = await settled(app.key, id);
    expect(why(run)).toEqual(CANCELLED);
    expect(run.approved_by.id).toBe(approver.id);
    expect(await linked(app.key, first)).toBeUndefined();
  });

  test('while its import writes: what is written stays, and no batch follows', async () => {
    const starter = await make(app);
    const { file, id: externalId } = aFile(2999);
    const rows = app.app.get(ImportRowsRepository);
    const batches = rows.listBatches.bind(rows);
    let asked = 0;
    jest.spyOn(rows, 'listBatches').mockImplementation(async (...args) => {
      // The first batches are committed by then, and these are not begun.
      if (++asked === 3) await end(app, starter.id);
      return batches(...args);
    });
    const query = `${PRIVILEGED}&dataset=${randomUUID()}`;
    const run = await settled(app.key, (await upload(starter.client, file, query)).body.id);
    expect(why(run)).toEqual(CANCELLED);
    const { created = 0, skipped = 0 } = counted(run);
    expect([created > 0, skipped > 0, created + skipped]).toEqual([true, true, 3000]);
    expect(await linked(app.key, externalId(2999))).toBeUndefined();
  });

  test('before its revert has begun: nothing is undone, and another one may undo it', async () => {
    const { file, first } = aFile();
    const { id } = await imported(app.key, file, PRIVILEGED);
    const starter = await make(app);
    const revert = await queued(async () => {
      const { body } = await starter.client.post(`/imports/${id}/revert`);
      await end(app, starter.id);
      return body;
    });
    expect(why(await settled(app.key, revert.id))).toEqual(CANCELLED);
    expect((await linked(app.key, first)).status).toBe('Active');
    const again = (await app.key.post(`/imports/${id}/revert`)).body;
    expect((await settled(app.key, again.id)).state).toBe('completed');
  });

  test('after the last batch: the run is completed, since it has nothing more to write', async () => {
    const starter = await make(app);
    const applier = app.app.get(Applier);
    const write = applier.apply.bind(applier);
    jest.spyOn(applier, 'apply').mockImplementationOnce(async (...args) => {
      await write(...args);
      await end(app, starter.id);
    });
    const { id } = (await upload(starter.client, aFile().file, PRIVILEGED)).body;
    const run = await settled(app.key, id);
    expect([run.state, counted(run)]).toEqual(['completed', { created: 1 }]);
  });
});

test('a user who is a Webmaster again before the turn of the run has the rights again', async () => {
  const starter = await aWebmaster(app);
  const { id } = await queued(async () => {
    const { body } = await upload(starter.client, aFile().file, PRIVILEGED);
    for (const role of ['Editor', 'Webmaster']) await changeUser(app, starter.id, { roles: [role] });
    return body;
  });
  expect((await settled(app.key, id)).state).toBe('completed');
});

test.each<[string, (interrupt: () => Promise<never>) => void]>([
  [
    'validates',
    (interrupt) => jest.spyOn(app.app.get(PlanGuards), 'evaluate').mockImplementationOnce(interrupt),
  ],
  [
    'writes',
    (interrupt) => {
      const rows = app.app.get(ImportRowsRepository);
      const batches = rows.listBatches.bind(rows);
      const next = jest.spyOn(rows, 'listBatches');
      next.mockImplementationOnce(batches).mockImplementationOnce(batches).mockImplementationOnce(interrupt);
    },
  ],
])(
  'a run that is interrupted while it %s writes nothing more if its key is revoked before the run resumes',
  async (phase, breakOff) => {
    const users = async () => (await app.key.get('/users/search?limit=1')).body.Count as number;
    const [starter, before] = [await aKey(app), await users()];
    breakOff(async () => {
      await app.key.delete(`/api_keys/${starter.id}`);
      throw createUnavailableError('The database is away.');
    });
    const { id } = (await upload(starter.client, aFile(2999).file, PRIVILEGED)).body;
    const run = await settled(app.key, id);
    expect(why(run)).toEqual(CANCELLED);
    const { created = 0, skipped = 0 } = counted(run);
    expect([created > 0, skipped > 0]).toEqual(phase === 'writes' ? [true, true] : [false, false]);
    expect(created + skipped).toBe(phase === 'writes' ? 3000 : 0);
    expect(await users()).toBe(before + created);
  },
);
