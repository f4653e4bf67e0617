import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/platform/config/env.js';
import { PasswordService } from '../../src/users/passwords/password.service.js';

test('of more workers than cores each computes one password at a time, and queues its share', async () => {
  const settings = { WORKERS: '64', HASH_QUEUE_LIMIT: '128', DATABASE_URL: 'mysql://db/x' };
  const passwords = new PasswordService(loadEnv(settings));
  const answers = Array.from({ length: 5 }, (_, index) =>
    passwords.hash('a password', { account: `user ${index}`, network: `network ${index}` }),
  );
  const ends = await Promise.allSettled(answers);
  // One is computed and two wait, although the first has not begun when the second arrives.
  expect(ends.map(({ status }) => status).sort()).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
});

test('a refusal is held back, until the client leaves', async () => {
  const passwords = new PasswordService(loadEnv({ HASH_QUEUE_LIMIT: '1' }));
  const ask = (name: string, signal?: AbortSignal) =>
    passwords.hash('a password', { account: name, network: name, signal }).catch(() => 'refused');
  const working = Array.from({ length: 40 }, (_, index) => ask(`user ${index}`));
  const patience = new AbortController();
  const refused = ask('user 0', patience.signal);
  await expect(
    Promise.race([refused, new Promise((resolve) => setImmediate(resolve, 'held'))]),
  ).resolves.toBe('held');
  patience.abort();
  await expect(refused).resolves.toBe('refused');
  await Promise.all(working);
});
