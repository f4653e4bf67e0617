import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type EndTurn, SearchTurns } from '../../src/users/search/search-turns.js';

const LIMITS = { width: 1, perActor: 2, waiting: 3, patienceMillis: 1000 };
const staying = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns of searches', () => {
  let begun: string[];
  let ends: Map<string, EndTurn>;
  let failed: unknown[];
  beforeEach(() => {
    begun = [];
    failed = [];
    ends = new Map();
  });

  const take = (turns: SearchTurns, actor: string, name = actor, signal = staying): void => {
    turns.take(actor, signal).then(
      (end) => {
        begun.push(name);
        ends.set(name, end);
      },
      (error: unknown) => failed.push(error),
    );
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };

  test('one actor at most two at a time', async () => {
    const turns = new SearchTurns({ ...LIMITS, width: 9 });
    for (const name of ['a1', 'a2', 'a3']) take(turns, 'a', name);
    take(turns, 'b');
    await settled();
    expect(begun).toEqual(['a1', 'a2', 'b']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b', 'a3']);
  });

  test('actors take turns: another one waits for one search at most', async () => {
    const turns = new SearchTurns(LIMITS);
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(turns, 'a', name);
    for (const name of ['b1', 'b2']) take(turns, 'b', name);
    take(turns, 'c');
    await settled();
    for (const name of ['a1', 'b1', 'c', 'a2', 'b2', 'a3']) await end(name);
    expect(begun).toEqual(['a1', 'b1', 'c', 'a2', 'b2', 'a3', 'a4']);
  });

  test('no more than some wait for one actor, and those of others do not count', async () => {
    const turns = new SearchTurns(LIMITS);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) take(turns, 'a', name);
    take(turns, 'b');
    await settled();
    expect(failed).toMatchObject([{ own: true }]);
    expect(turns.waiting).toBe(4);
  });

  test('who has left leaves the queue, and whoever is next begins', async () => {
    const turns = new SearchTurns(LIMITS);
    const gone = new AbortController();
    take(turns, 'a', 'a1');
    take(turns, 'b', 'b1', gone.signal);
    take(turns, 'c', 'c1');
    gone.abort();
    await settled();
    expect([failed.length, turns.waiting]).toEqual([1, 1]);
    await end('a1');
    expect(begun).toEqual(['a1', 'c1']);
    take(turns, 'd', 'd1', gone.signal);
    await settled();
    expect(failed).toHaveLength(2);
  });

  test('a turn that ends twice makes room for one', async () => {
    const turns = new SearchTurns(LIMITS);
    for (const actor of ['a', 'b', 'c']) take(turns, actor);
    await settled();
    await end('a');
    await end('a');
    expect(begun).toEqual(['a', 'b']);
  });

  test('nobody waits for ever, and is told because of whom', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const turns = new SearchTurns(LIMITS);
      take(turns, 'a', 'a1');
      take(turns, 'a', 'a2');
      take(turns, 'b');
      jest.advanceTimersByTime(LIMITS.patienceMillis);
      await settled();
      expect(failed).toMatchObject([{ own: true }, { own: false }]);
      expect(turns.waiting).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
