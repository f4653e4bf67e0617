import { expect, test } from '@jest/globals';
import { type Asker, FairQueue } from '../../src/users/passwords/fair-queue.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose works end when the test says so, and the order in which they began. */
function driven(atOnce: number, limit: number) {
  const queue = new FairQueue(atOnce, limit);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const ask = (account: string, network: string, signal?: AbortSignal): Promise<void> => {
    const asker: Asker = { account, network, signal };
    const work = () => {
      began.push(account);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    return queue.run(asker, work).catch(() => void refused.push(account));
  };
  /** Ends the work that began first. */
  const end = async (): Promise<void> => {
    await settled();
    ends.shift()?.();
    await settled();
  };
  return { queue, began, refused, ask, end };
}
const times = (count: number, act: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => act(index));

test('never more works at once than there are places', async () => {
  const { queue, began, ask, end } = driven(2, 10);
  times(5, (index) => ask(`user ${index}`, `network ${index}`));
  await settled();
  expect([began.length, queue.waiting]).toEqual([2, 3]);
  await end();
  expect([began.length, queue.waiting]).toEqual([3, 2]);
});

test.each<[string, (index: number) => [account: string, network: string]]>([
  ['one account that asks without pause', () => ['flood', 'far']],
  ['one network with many accounts', (index) => [`flood ${index}`, 'far']],
  ['one account from many networks', (index) => ['flood', `far ${index}`]],
])(
  '%s delays no other account: the next slot goes to another account of another network',
  async (_, asker) => {
    const { began, ask, end } = driven(1, 200);
    times(90, (index) => ask(...asker(index)));
    void ask('Ann', 'near');
    await end();
    expect(began).toEqual([asker(0)[0], 'Ann']);
  },
);

test('accounts of one network take turns', async () => {
  const { began, ask, end } = driven(1, 100);
  times(20, () => ask('flood', 'office'));
  times(2, () => ask('Ann', 'office'));
  times(2, () => ask('Bob', 'office'));
  for (let turn = 0; turn < 5; turn++) await end();
  expect(began).toEqual(['flood', 'Ann', 'Bob', 'flood', 'Ann', 'Bob']);
});

test('the user gets in beside someone who guesses the password of the same user elsewhere', async () => {
  const { began, ask, end } = driven(1, 100);
  times(20, () => ask('Ann', 'far'));
  const own = ask('Ann', 'home').then(() => 'served');
  await end();
  await end();
  expect(began).toHaveLength(3);
  expect(await own).toBe('served');
});

test('an account or a network has at most half of the places', async () => {
  const account = driven(1, 10);
  times(20, (index) => account.ask('flood', `far ${index}`));
  const network = driven(1, 10);
  times(20, (index) => network.ask(`flood ${index}`, 'far'));
  await settled();
  expect([account.queue.waiting, account.refused.length]).toEqual([5, 14]);
  expect([network.queue.waiting, network.refused.length]).toEqual([5, 14]);
});

test('a colleague in a network that has all its places gets one of the account that has the most', async () => {
  const { queue, began, refused, ask, end } = driven(1, 10);
  times(20, () => ask('flood', 'office'));
  await settled();
  expect([queue.waiting, refused.length]).toEqual([5, 14]);
  void ask('Ann', 'office');
  await settled();
  expect([queue.waiting, refused.length, refused.includes('Ann')]).toEqual([5, 15, false]);
  await end();
  expect(began).toEqual(['flood', 'Ann']);
});

test('when all places are taken, a newcomer gets the place of the one that has the most', async () => {
  const { queue, began, refused, ask, end } = driven(1, 10);
  times(6, () => ask('flood', 'far'));
  times(5, () => ask('flow', 'farther'));
  expect(queue.waiting).toBe(10);
  void ask('Ann', 'near');
  await settled();
  expect([queue.waiting, refused]).toEqual([10, ['flow']]);
  await end();
  await end();
  expect(began).toContain('Ann');
});

test('where everybody has one place, the queue is full', async () => {
  const { queue, refused, ask } = driven(1, 3);
  times(6, (index) => ask(`user ${index}`, `network ${index}`));
  await settled();
  expect([queue.waiting, refused]).toEqual([3, ['user 4', 'user 5']]);
});

test('a client that has left leaves the queue', async () => {
  const { queue, began, refused, ask, end } = driven(1, 10);
  void ask('first', 'near');
  const client = new AbortController();
  const gone = ask('gone', 'near', client.signal);
  void ask('next', 'near');
  client.abort();
  await gone;
  expect([queue.waiting, refused]).toEqual([1, ['gone']]);
  await end();
  expect(began).toEqual(['first', 'next']);
  await ask('late', 'near', client.signal);
  expect(refused).toEqual(['gone', 'late']);
});

test('a work that fails gives its place back', async () => {
  const queue = new FairQueue(1, 1);
  const asker = { account: 'a', network: 'n' };
  await expect(queue.run(asker, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await queue.run(asker, () => Promise.resolve('served'))).toBe('served');
});

test('who finds no place has the refusal when it is no longer held back, and keeps nobody else waiting', async () => {
  let release = (): void => undefined;
  const queue = new FairQueue(1, 1, () => new Promise<void>((resolve) => (release = resolve)));
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  const asker = { account: 'flood', network: 'far' };
  const working = [queue.run(asker, work), queue.run(asker, work)];
  let ended = false;
  const refused = queue
    .run(asker, work)
    .catch((error: unknown) => error)
    .finally(() => (ended = true));
  await settled();
  expect([ended, queue.waiting]).toEqual([false, 1]);
  ends.shift()?.();
  await settled();
  ends.shift()?.();
  await Promise.all(working);
  expect(ended).toBe(false);
  release();
  await expect(refused).resolves.toMatchObject({ code: 'unavailable' });
});
