import { expect, test } from '@jest/globals';
import { setImmediate as tick } from 'node:timers/promises';
import { GrantedTurns, RequestedTurns, WriteQueue } from '../../src/platform/database/sqlite/write-turns.js';

/** Writers of several processes, in one queue. */
const requestedFrom = (granted: GrantedTurns) =>
  new RequestedTurns({
    takeTurn: () => granted.takeTurn(),
    endTurn: async () => {
      granted.endTurn();
    },
  });

test('turns are given in the order in which they were asked for, to one writer at a time', async () => {
  const queue = new WriteQueue();
  const other = requestedFrom(new GrantedTurns(queue));
  const seen: string[] = [];
  let writing = 0;
  const write = async (name: string, turns: WriteQueue | RequestedTurns) => {
    const end = await turns.take();
    seen.push(name);
    expect(++writing).toBe(1);
    await tick();
    writing--;
    end();
  };
  const own = (n: number) => write(`own ${n}`, queue);
  const first = [own(1), own(2), write('other', other)];
  await Promise.resolve(); // the request of the other process takes its way
  await Promise.all([...first, own(3)]);
  expect(seen).toEqual(['own 1', 'own 2', 'other', 'own 3']);
  expect(queue.waiting).toBe(0);
});

test('a turn that is ended twice ends nobody else’s', async () => {
  const queue = new WriteQueue();
  const first = await queue.take();
  const second = queue.take();
  const third = queue.take();
  first();
  first();
  expect(queue.waiting).toBe(1);
  (await second)();
  (await third)();
  expect(queue.waiting).toBe(0);
});

test('a process that dies, with its turn or waiting for it, leaves the turn to the next', async () => {
  for (const waits of [false, true]) {
    const queue = new WriteQueue();
    const granted = new GrantedTurns(queue);
    const before = waits ? await queue.take() : undefined;
    const taken = granted.takeTurn();
    if (!waits) await taken;
    const next = queue.take();
    granted.leave();
    before?.();
    (await next)();
    expect(queue.waiting).toBe(0);
  }
});

test('a process learns whether others have written since its last turn', async () => {
  const queue = new WriteQueue();
  const other = requestedFrom(new GrantedTurns(queue));
  const seen: boolean[] = [];
  for (const own of [0, 0, 1, 3, 0]) {
    for (let turn = 0; turn < own; turn++) (await queue.take())();
    (await other.take())();
    seen.push(other.othersWrite);
  }
  expect(seen).toEqual([false, false, true, true, false]);
});
