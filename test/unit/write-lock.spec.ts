import { expect, test } from '@jest/globals';
import { setImmediate as tick } from 'node:timers/promises';
import { WriteLock, lendWriteLock } from '../../src/platform/database/sqlite/write-lock.js';

/** The lock in another process, which takes it from the process that has it. */
const lockFrom = ({ calls: { takeLock, releaseLock } }: ReturnType<typeof lendWriteLock>) =>
  new WriteLock({
    takeLock,
    releaseLock: async () => {
      releaseLock();
    },
  });

test('writers of all processes take the lock one at a time, in the order of their requests', async () => {
  const lock = new WriteLock();
  const other = lockFrom(lendWriteLock(lock));
  const seen: string[] = [];
  let writing = 0;
  const write = (name: string, of: WriteLock) =>
    of.run(async () => {
      seen.push(name);
      expect(++writing).toBe(1);
      await tick();
      writing--;
    });
  const own = (n: number) => write(`own ${n}`, lock);
  const first = [own(1), own(2), write('other', other)];
  await Promise.resolve(); // the request of the other process takes its way
  await Promise.all([...first, own(3)]);
  expect(seen).toEqual(['own 1', 'own 2', 'other', 'own 3']);
  expect(lock.waiting).toBe(0);
});

test.each([false, true])(
  'a process that dies (waiting for the lock: %s) leaves it to the next',
  async (waits) => {
    const lock = new WriteLock();
    const lent = lendWriteLock(lock);
    const before = waits ? await lock.take() : undefined;
    const taken = lent.calls.takeLock();
    if (!waits) await taken;
    const next = lock.take();
    lent.end();
    before?.();
    (await next)();
    await taken;
    expect(lock.waiting).toBe(0);
  },
);

test('a process learns whether others have written since its last write', async () => {
  const lock = new WriteLock();
  const other = lockFrom(lendWriteLock(lock));
  const seen: boolean[] = [];
  for (const own of [0, 0, 1, 3, 0]) {
    for (let turn = 0; turn < own; turn++) (await lock.take())();
    (await other.take())();
    seen.push(other.isContended);
  }
  expect(seen).toEqual([false, false, true, true, false]);
});
