import { expect, jest, test } from '@jest/globals';
import { FairSemaphore, NoSlotError, type Release } from '../../src/platform/common/fair-semaphore.js';

const flushPromises = () => new Promise((resolve) => setImmediate(resolve));
const repeat = (count: number, act: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => act(index));

/** Creates a semaphore whose callers hold their slots until the test ends them, and records all results. */
function drive(limits: ConstructorParameters<typeof FairSemaphore>[0]) {
  const semaphore = new FairSemaphore(limits);
  const began: string[] = [];
  const refused: string[] = [];
  const errors: unknown[] = [];
  const releases: { name: string; release: Release }[] = [];
  const acquire = async (name: string, keys: string[], signal?: AbortSignal): Promise<void> => {
    try {
      const release = await semaphore.acquire(keys, signal);
      began.push(name);
      releases.push({ name, release });
    } catch (error) {
      refused.push(name);
      errors.push(error);
    }
  };
  return {
    semaphore,
    began,
    refused,
    errors,
    /** Acquires a slot for an account in a network. */
    enter: (account: string, network: string) => acquire(account, [account, network]),
    /** Acquires a slot for a caller such as `a1`, which has the key `a`. */
    call: (name: string, signal?: AbortSignal) => acquire(name, [name.slice(0, 1)], signal),
    /** Releases the slot of the named caller, or of the caller who has held a slot longest. */
    end: async (name = releases[0]?.name): Promise<void> => {
      await flushPromises();
      const at = releases.findIndex((held) => held.name === name);
      releases.splice(at, 1)[0]?.release();
      await flushPromises();
    },
  };
}

test('the semaphore never grants more slots than it has', async () => {
  const { semaphore, began, enter, end } = drive({ slots: 2 });
  repeat(5, (index) => enter(`user ${index}`, `network ${index}`));
  await flushPromises();
  expect({ began: began.length, waiting: semaphore.waiting }).toEqual({ began: 2, waiting: 3 });
  await end();
  expect({ began: began.length, waiting: semaphore.waiting }).toEqual({ began: 3, waiting: 2 });
  expect(semaphore.grantCount).toBe(3);
});

test('the semaphore limits the slots of each key', async () => {
  const { began, call, end } = drive({ slots: 9, slotsPerKey: 2 });
  for (const name of ['a1', 'a2', 'a3', 'b1']) void call(name);
  await flushPromises();
  expect(began).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('the semaphore serves keys in rotation', async () => {
  const { began, call, end } = drive({ slots: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void call(name);
  for (let round = 0; round < 6; round++) await end();
  expect(began).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test.each<[string, (index: number) => [account: string, network: string]]>([
  ['a flood from one account', () => ['flood', 'far']],
  ['a flood from many accounts in one network', (index) => [`flood ${index}`, 'far']],
  ['a flood from one account in many networks', (index) => ['flood', `far ${index}`]],
])('during %s, an unrelated account gets the next slot', async (_, caller) => {
  const { began, enter, end } = drive({ slots: 1, waiting: 200, waitingPerKey: 100 });
  repeat(90, (index) => enter(...caller(index)));
  void enter('Ann', 'near');
  await end();
  expect(began).toEqual([caller(0)[0], 'Ann']);
});

test('the semaphore serves the accounts of one network in rotation', async () => {
  const { began, enter, end } = drive({ slots: 1 });
  repeat(20, () => enter('flood', 'office'));
  repeat(2, () => enter('Ann', 'office'));
  repeat(2, () => enter('Bob', 'office'));
  for (let round = 0; round < 5; round++) await end();
  expect(began).toEqual(['flood', 'Ann', 'Bob', 'flood', 'Ann', 'Bob']);
});

test('requests for an account barely delay requests from another network', async () => {
  const { began, enter, end } = drive({ slots: 1 });
  repeat(20, () => enter('Ann', 'far'));
  const own = enter('Ann', 'home').then(() => 'served');
  await end();
  await end();
  expect(began).toHaveLength(3);
  expect(await own).toBe('served');
});

test.each<[string, (index: number) => [account: string, network: string]]>([
  ['account', (index) => ['flood', `far ${index}`]],
  ['network', (index) => [`flood ${index}`, 'far']],
])('the semaphore limits the waiting callers of one %s', async (_, caller) => {
  const { semaphore, refused, enter } = drive({ slots: 1, waiting: 10, waitingPerKey: 5 });
  repeat(20, (index) => enter(...caller(index)));
  await flushPromises();
  expect({ waiting: semaphore.waiting, refused: refused.length }).toEqual({ waiting: 5, refused: 14 });
});

test('a full network queue drops a caller of the busiest account', async () => {
  const { semaphore, began, refused, enter, end } = drive({ slots: 1, waiting: 10, waitingPerKey: 5 });
  repeat(20, () => enter('flood', 'office'));
  await flushPromises();
  expect({ waiting: semaphore.waiting, refused: refused.length }).toEqual({ waiting: 5, refused: 14 });
  void enter('Ann', 'office');
  await flushPromises();
  expect({ waiting: semaphore.waiting, refused: refused.length }).toEqual({ waiting: 5, refused: 15 });
  expect(refused).not.toContain('Ann');
  await end();
  expect(began).toEqual(['flood', 'Ann']);
});

test('a full queue drops a caller of the busiest key', async () => {
  const { semaphore, began, refused, enter, end } = drive({ slots: 1, waiting: 10, waitingPerKey: 5 });
  repeat(6, () => enter('flood', 'far'));
  repeat(5, () => enter('flow', 'farther'));
  expect(semaphore.waiting).toBe(10);
  void enter('Ann', 'near');
  await flushPromises();
  expect([semaphore.waiting, refused]).toEqual([10, ['flow']]);
  await end();
  await end();
  expect(began).toContain('Ann');
});

test('a full queue with one caller per key refuses a new key', async () => {
  const { semaphore, refused, enter } = drive({ slots: 1, waiting: 3, waitingPerKey: 2 });
  repeat(6, (index) => enter(`user ${index}`, `network ${index}`));
  await flushPromises();
  expect([semaphore.waiting, refused]).toEqual([3, ['user 4', 'user 5']]);
});

test('the error at the key limit marks the key as the cause', async () => {
  const { semaphore, refused, errors, call } = drive({ slots: 1, waitingPerKey: 3 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void call(name);
  await flushPromises();
  expect({ waiting: semaphore.waiting, refused, errors }).toMatchObject({
    waiting: 4,
    refused: ['a5'],
    errors: [{ isOwn: true }],
  });
});

test('an aborted caller leaves the queue', async () => {
  const { semaphore, began, refused, errors, call, end } = drive({ slots: 1 });
  const client = new AbortController();
  void call('a1');
  void call('b1', client.signal);
  void call('c1');
  client.abort(new Error('gone'));
  await flushPromises();
  expect([semaphore.waiting, refused]).toEqual([1, ['b1']]);
  await end();
  expect(began).toEqual(['a1', 'c1']);
  await call('d1', client.signal);
  expect(errors).toMatchObject([{ message: 'gone' }, { message: 'gone' }]);
});

test('a slot that is released twice is granted only once', async () => {
  const semaphore = new FairSemaphore({ slots: 1 });
  const release = await semaphore.acquire();
  const second = semaphore.acquire();
  const third = semaphore.run([], () => Promise.reject(new Error('broken')));
  release();
  release();
  expect(semaphore.waiting).toBe(1);
  (await second)();
  await expect(third).rejects.toThrow('broken');
  expect(await semaphore.run([], () => Promise.resolve('served'))).toBe('served');
});

test('a timeout error states whether the key of the caller held slots', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { semaphore, errors, call } = drive({ slots: 1, waitMillis: 1000 });
    for (const name of ['a1', 'a2', 'b1']) void call(name);
    await flushPromises();
    jest.advanceTimersByTime(1000);
    await flushPromises();
    expect(errors).toEqual([expect.any(NoSlotError), expect.any(NoSlotError)]);
    expect(errors).toMatchObject([{ isOwn: true }, { isOwn: false }]);
    expect(semaphore.waiting).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
