import { expect, test } from '@jest/globals';
import { LoginDelay } from '../../src/sessions/login-delay.js';

test('logins of a network begin a second apart; a line of ten seconds is full; other networks have their own', async () => {
  let time = 5000;
  const slept: number[] = [];
  const delay = new LoginDelay(
    () => time,
    (millis) => Promise.resolve(slept.push(millis)),
  );
  const turns = await Promise.all(Array.from({ length: 12 }, () => delay.turn('office')));
  expect(slept).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((seconds) => seconds * 1000));
  expect(turns.filter((turn) => !turn)).toHaveLength(2);
  expect(await delay.turn('other')).toBe(true);
  expect(slept.at(-1)).toBe(1000);
  time += 60_000;
  expect(await delay.turn('office')).toBe(true);
  expect(slept.at(-1)).toBe(1000);
});

test('who leaves does not wait', async () => {
  const client = new AbortController();
  const waiting = new LoginDelay().turn('office', client.signal);
  client.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
});
