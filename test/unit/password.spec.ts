import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/platform/config/env.js';
import { PasswordService } from '../../src/users/passwords/password.service.js';

test('each of 64 instances hashes one password at a time', async () => {
  const settings = { WORKERS: '64', HASH_QUEUE_LIMIT: '128', DATABASE_URL: 'mysql://db/x' };
  const passwords = new PasswordService(loadEnv(settings));
  const hashes = Array.from({ length: 5 }, (_, index) =>
    passwords.hash('a password', { account: `user ${index}`, network: `network ${index}` }),
  );
  const results = await Promise.allSettled(hashes);
  // One hash runs and two wait, although the first has not started when the second arrives.
  expect(results.map(({ status }) => status).sort()).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
});

test('a full hash queue refuses a disconnected client at once', async () => {
  const passwords = new PasswordService(loadEnv({ HASH_QUEUE_LIMIT: '1' }));
  const hash = (name: string, signal?: AbortSignal) =>
    passwords.hash('a password', { account: name, network: name, signal }).catch(() => 'refused');
  const working = Array.from({ length: 40 }, (_, index) => hash(`user ${index}`));
  const client = new AbortController();
  const refused = hash('user 0', client.signal);
  await expect(
    Promise.race([refused, new Promise((resolve) => setImmediate(resolve, 'held'))]),
  ).resolves.toBe('held');
  client.abort();
  await expect(refused).resolves.toBe('refused');
  await Promise.all(working);
});
