import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { together } from '../../src/database/together.js';

test('the first error is thrown when all statements have ended, so that a rollback comes last', async () => {
  const ended: string[] = [];
  const statement = async (name: string, ticks: number, error?: Error): Promise<void> => {
    for (let tick = 0; tick < ticks; tick++) await setImmediate();
    ended.push(name);
    if (error) throw error;
  };
  const first = new Error('first');
  const work = together([
    statement('a', 3),
    statement('b', 1, first),
    statement('c', 5, new Error('second')),
  ]);
  await expect(work).rejects.toBe(first);
  expect(ended).toEqual(['b', 'a', 'c']);
});
