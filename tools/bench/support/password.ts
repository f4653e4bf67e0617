import { hashSync } from '@node-rs/argon2';

/** The password of all seeded users. */
export const PASSWORD = 'a password of the bench';

/** argon2id with the parameters of `PasswordService`: otherwise every login would renew the hash. */
export const PASSWORD_HASH = hashSync(PASSWORD, {
  // the algorithm is argon2id when none is set
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
});
