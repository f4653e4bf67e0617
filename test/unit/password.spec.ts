import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/config/env.js';
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
