import { expect, test } from '@jest/globals';
import { setImmediate as tick } from 'node:timers/promises';
import { WriteLock, createWriteLockCalls } from '../../src/platform/database/sqlite/write-lock.js';

/** Creates the lock of another process, which requests the lock from the lending process. */
const createRemoteLock = ({
  calls: { acquireLock: takeLock, releaseLock },
}: ReturnType<typeof createWriteLockCalls>) =>
  new WriteLock({
    acquireLock: takeLock,
    releaseLock: async (stamp) => {
      releaseLock(stamp);
    },
  });

test('writers of all processes get the write lock in request order', async () => {
  const lock = new WriteLock();
  const other = createRemoteLock(createWriteLockCalls(lock));
  const seen: string[] = [];
  let writing = 0;
  const write = (name: string, of: WriteLock) =>
    of.runMaintenance(async () => {
      seen.push(name);
      expect(++writing).toBe(1);
      await tick();
      writing--;
    });
  const writeOwn = (n: number) => write(`own ${n}`, lock);
  const first = [writeOwn(1), writeOwn(2), write('other', other)];
  await Promise.resolve(); // lets the request of the other process arrive
  await Promise.all([...first, writeOwn(3)]);
  expect(seen).toEqual(['own 1', 'own 2', 'other', 'own 3']);
  expect(lock.waiting).toBe(0);
});

test.each([
  ['holding', false],
  ['waiting for', true],
])('a process that exits while %s the lock blocks no writer', async (_, waits) => {
  const lock = new WriteLock();
  const lent = createWriteLockCalls(lock);
  const before = waits ? await lock.acquire() : undefined;
  const taken = lent.calls.acquireLock();
  if (!waits) await taken;
  const next = lock.acquire();
  lent.end();
  before?.();
  (await next)();
  await taken;
  expect(lock.waiting).toBe(0);
});

test('a process detects writes by other processes, but not their checkpoints', async () => {
  const lock = new WriteLock();
  const other = createRemoteLock(createWriteLockCalls(lock));
  const seen: boolean[] = [];
  for (const writeOwn of [0, 0, 1, 3, 0]) {
    for (let round = 0; round < writeOwn; round++) (await lock.acquire())();
    (await other.acquire())();
    seen.push(other.isContended);
  }
  await lock.runMaintenance(() => Promise.resolve());
  (await other.acquire())();
  expect([...seen, other.isContended]).toEqual([false, false, true, true, false, false]);
});
