import { hashSync } from '@node-rs/argon2';

/** Password of all seeded users. */
export const PASSWORD = 'a password of the bench';

/** argon2id hash with the parameters of `PasswordService`. With others, every login would renew the hash. */
export const PASSWORD_HASH = hashSync(PASSWORD, {
  // argon2id is the default algorithm
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
});
