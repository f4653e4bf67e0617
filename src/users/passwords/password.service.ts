import { Algorithm, hash, verify } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Env } from '../../platform/config/env.js';
import { type Asker, FairQueue } from './fair-queue.js';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};
const CURRENT = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Random bytes in the base64 of a PHC string, which has no padding. */
const base64 = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '');

/** How long the answer to a password that finds no place in the queue is held back. */
const REFUSAL_MILLIS = 1000;

interface Around {
  before(): Promise<void>;
  failed(): Promise<void>;
}

/**
 * Password hashes. At most as many are computed at once as there are cores, and a bounded number may wait, in turns: a
 * flood of logins slows down its own, not the service nor the others. Workers divide both among them, at least one each.
 */
@Injectable()
export class PasswordService {
  private readonly queue: FairQueue;
  /** Verified for an unknown user, so that the answer takes as long: the hash of no known password. */
  private readonly decoy = `${CURRENT}${base64(SALT_BYTES)}$${base64(HASH_BYTES)}`;

  constructor({ HASH_QUEUE_LIMIT, WORKERS }: Env) {
    const atOnce = Math.max(1, Math.floor(availableParallelism() / WORKERS));
    this.queue = new FairQueue(atOnce, Math.ceil(HASH_QUEUE_LIMIT / WORKERS), holdBack);
  }

  /** PHC form. @throws ProblemError `unavailable` when the queue is full. */
  async hash(password: string, asker: Asker): Promise<string> {
    return this.queue.run(asker, () => hash(password, PARAMETERS));
  }

  /**
   * True when the password fits the hash. For a user without a hash the same work is done and the answer is false.
   * @param around runs in the same place of the queue: before the work, and when the password did not fit.
   * @throws ProblemError `unavailable` when the queue is full.
   */
  async verify(stored: string | null, password: string, asker: Asker, around: Around): Promise<boolean> {
    return this.queue.run(asker, async () => {
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
    return this.queue.waiting;
  }
}

/** Costs a timer. Ends early when the client has left. */
async function holdBack(signal?: AbortSignal): Promise<void> {
  await delay(REFUSAL_MILLIS, undefined, { signal }).catch(() => undefined);
}
