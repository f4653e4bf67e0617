import { Algorithm, hash, verify } from '@node-rs/argon2';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { unavailable } from '../../common/errors.js';
import { randomToken } from '../../common/secret.js';
import { Env } from '../../config/env.js';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};
const CURRENT = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;

interface Around {
  before(): Promise<void>;
  failed(): Promise<void>;
}

/**
 * Password hashes. At most as many are computed at once as there are cores, and a bounded number may wait: a flood
 * of logins slows down logins, not the service. Workers divide both among them, at least one each.
 */
@Injectable()
export class PasswordService implements OnModuleInit {
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly queueLimit: number;
  /** Verified for an unknown user, so that the answer takes as long. */
  private decoy = '';

  constructor({ HASH_QUEUE_LIMIT, WORKERS }: Env) {
    this.limit = pLimit(Math.max(1, Math.floor(availableParallelism() / WORKERS)));
    this.queueLimit = Math.ceil(HASH_QUEUE_LIMIT / WORKERS);
  }

  async onModuleInit(): Promise<void> {
    this.decoy = await hash(randomToken(), PARAMETERS);
  }

  /** PHC form. @throws ProblemError `unavailable` when the queue is full. */
  async hash(password: string): Promise<string> {
    return this.queued(() => hash(password, PARAMETERS));
  }

  /**
   * True when the password fits the hash. For a user without a hash the same work is done and the answer is false.
   * @param around runs in the same place of the queue: before the work, and when the password did not fit.
   * @throws ProblemError `unavailable` when the queue is full.
   */
  async verify(stored: string | null, password: string, around: Around): Promise<boolean> {
    return this.queued(async () => {
      await around.before();
      const fits = (await verify(stored ?? this.decoy, password)) && stored !== null;
      if (!fits) await around.failed();
      return fits;
    });
  }

  /** Whether a hash was made with other than the current parameters. */
  isOutdated(stored: string): boolean {
    return !stored.startsWith(CURRENT);
  }

  /** Passwords that wait for a free core. */
  get waiting(): number {
    return this.limit.pendingCount;
  }

  private async queued<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting >= this.queueLimit) {
      throw unavailable('Too many passwords are being checked.', 1);
    }
    return this.limit(work);
  }
}
