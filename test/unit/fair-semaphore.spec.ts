import { expect, jest, test } from '@jest/globals';
import { FairSemaphore, NoSlotError, type Release } from '../../src/platform/common/fair-semaphore.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, act: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => act(index));

/** A semaphore whose callers hold their slots until the test ends them, and what became of each caller. */
function driven(limits: ConstructorParameters<typeof FairSemaphore>[0]) {
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
    /** A caller of an account in a network. */
    ask: (account: string, network: string) => acquire(account, [account, network]),
    /** A caller `a1` of the key `a`. */
    call: (name: string, signal?: AbortSignal) => acquire(name, [name.slice(0, 1)], signal),
    /** Ends the caller with this name, or the one that began first. */
    end: async (name = releases[0]?.name): Promise<void> => {
      await settled();
      const at = releases.findIndex((held) => held.name === name);
      releases.splice(at, 1)[0]?.release();
      await settled();
    },
  };
}

test('never gives more slots than there are', async () => {
  const { semaphore, began, ask, end } = driven({ slots: 2 });
  times(5, (index) => ask(`user ${index}`, `network ${index}`));
  await settled();
  expect([began.length, semaphore.waiting]).toEqual([2, 3]);
  await end();
  expect([began.length, semaphore.waiting, semaphore.grantCount]).toEqual([3, 2, 3]);
});

test('gives one key a bounded number of slots, and other keys the rest', async () => {
  const { began, call, end } = driven({ slots: 9, slotsPerKey: 2 });
  for (const name of ['a1', 'a2', 'a3', 'b1']) void call(name);
  await settled();
  expect(began).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('serves keys in turn: a key waits for one caller of each other key at most', async () => {
  const { began, call, end } = driven({ slots: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void call(name);
  for (let turn = 0; turn < 6; turn++) await end();
  expect(began).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test.each<[string, (index: number) => [account: string, network: string]]>([
  ['one account that asks without pause', () => ['flood', 'far']],
  ['one network with many accounts', (index) => [`flood ${index}`, 'far']],
  ['one account from many networks', (index) => ['flood', `far ${index}`]],
])(
  '%s delays no other account: the next slot goes to another account of another network',
  async (_, caller) => {
    const { began, ask, end } = driven({ slots: 1, waiting: 200, waitingPerKey: 100 });
    times(90, (index) => ask(...caller(index)));
    void ask('Ann', 'near');
    await end();
    expect(began).toEqual([caller(0)[0], 'Ann']);
  },
);

test('serves the accounts of one network in turn', async () => {
  const { began, ask, end } = driven({ slots: 1 });
  times(20, () => ask('flood', 'office'));
  times(2, () => ask('Ann', 'office'));
  times(2, () => ask('Bob', 'office'));
  for (let turn = 0; turn < 5; turn++) await end();
  expect(began).toEqual(['flood', 'Ann', 'Bob', 'flood', 'Ann', 'Bob']);
});

test('serves a user soon at home while another network floods the same account', async () => {
  const { began, ask, end } = driven({ slots: 1 });
  times(20, () => ask('Ann', 'far'));
  const own = ask('Ann', 'home').then(() => 'served');
  await end();
  await end();
  expect(began).toHaveLength(3);
  expect(await own).toBe('served');
});

test.each<[string, (index: number) => [account: string, network: string]]>([
  ['account', (index) => ['flood', `far ${index}`]],
  ['network', (index) => [`flood ${index}`, 'far']],
])('bounds the waiting callers of one %s', async (_, caller) => {
  const { semaphore, refused, ask } = driven({ slots: 1, waiting: 10, waitingPerKey: 5 });
  times(20, (index) => ask(...caller(index)));
  await settled();
  expect([semaphore.waiting, refused.length]).toEqual([5, 14]);
});

test('gives a new account in a full network the place of the account with the most callers', async () => {
  const { semaphore, began, refused, ask, end } = driven({ slots: 1, waiting: 10, waitingPerKey: 5 });
  times(20, () => ask('flood', 'office'));
  await settled();
  expect([semaphore.waiting, refused.length]).toEqual([5, 14]);
  void ask('Ann', 'office');
  await settled();
  expect([semaphore.waiting, refused.length, refused.includes('Ann')]).toEqual([5, 15, false]);
  await end();
  expect(began).toEqual(['flood', 'Ann']);
});

test('gives a new key in a full queue the place of the key with the most callers', async () => {
  const { semaphore, began, refused, ask, end } = driven({ slots: 1, waiting: 10, waitingPerKey: 5 });
  times(6, () => ask('flood', 'far'));
  times(5, () => ask('flow', 'farther'));
  expect(semaphore.waiting).toBe(10);
  void ask('Ann', 'near');
  await settled();
  expect([semaphore.waiting, refused]).toEqual([10, ['flow']]);
  await end();
  await end();
  expect(began).toContain('Ann');
});

test('refuses a new key in a full queue where every key has one caller', async () => {
  const { semaphore, refused, ask } = driven({ slots: 1, waiting: 3, waitingPerKey: 2 });
  times(6, (index) => ask(`user ${index}`, `network ${index}`));
  await settled();
  expect([semaphore.waiting, refused]).toEqual([3, ['user 4', 'user 5']]);
});

test('counts the waiting callers of each key apart, and reports its own as the cause', async () => {
  const { semaphore, refused, errors, call } = driven({ slots: 1, waitingPerKey: 3 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void call(name);
  await settled();
  expect({ waiting: semaphore.waiting, refused, errors }).toMatchObject({
    waiting: 4,
    refused: ['a5'],
    errors: [{ isOwn: true }],
  });
});

test('an aborted caller leaves the queue, and the next one is served', async () => {
  const { semaphore, began, refused, errors, call, end } = driven({ slots: 1 });
  const client = new AbortController();
  void call('a1');
  void call('b1', client.signal);
  void call('c1');
  client.abort(new Error('gone'));
  await settled();
  expect([semaphore.waiting, refused]).toEqual([1, ['b1']]);
  await end();
  expect(began).toEqual(['a1', 'c1']);
  await call('d1', client.signal);
  expect(errors).toMatchObject([{ message: 'gone' }, { message: 'gone' }]);
});

test('a slot that is given back twice serves one caller, and work that fails gives it back', async () => {
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

test('a wait ends in time, and names whose callers had the slots', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { semaphore, errors, call } = driven({ slots: 1, waitMillis: 1000 });
    for (const name of ['a1', 'a2', 'b1']) void call(name);
    await settled();
    jest.advanceTimersByTime(1000);
    await settled();
    expect(errors).toEqual([expect.any(NoSlotError), expect.any(NoSlotError)]);
    expect(errors).toMatchObject([{ isOwn: true }, { isOwn: false }]);
    expect(semaphore.waiting).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
