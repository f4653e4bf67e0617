import { Algorithm, hash, verify } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { createUnavailableError } from '../../platform/common/errors.js';
import { FairSemaphore, NoSlotError } from '../../platform/common/fair-semaphore.js';
import { Env } from '../../platform/config/env.js';
import { toNetwork } from '../../platform/http/request-headers.js';

/** Parameters of argon2id from the OWASP Password Storage Cheat Sheet: 19 MiB of memory, 2 passes, 1 lane. */
const ARGON2 = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};
const CURRENT_PREFIX = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$`;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Generates random bytes in base64 without padding, as a PHC string requires. */
const generateRandomBase64 = (byteCount: number): string =>
  randomBytes(byteCount).toString('base64').replaceAll('=', '');

const REFUSAL_DELAY_MILLIS = 1000;

/**
 * The client for which a password is hashed or verified. `account` identifies a user, an API key or an unknown
 * username.
 */
export interface Requester {
  account: string;
  network: string;
  /** Aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
}

export const toRequester = ({ actor, ip }: Caller): Requester => ({
  account: actor.id ?? actor.kind,
  network: toNetwork(ip),
});

/** Functions that `verify` calls: `before` at the start, and `failed` after a wrong password. */
interface Hooks {
  before(): Promise<unknown>;
  failed(): Promise<void>;
}

/**
 * Hashes and verifies passwords, at most one per CPU core at a time. Other requests wait in a queue, and one account or
 * network can fill at most half of it. Accounts and networks are served in turn, so that a flood of logins does not
 * delay other users. Each instance gets an equal share of the slots and the queue.
 */
@Injectable()
export class PasswordService {
  private readonly slots: FairSemaphore;
  /** A random hash that replaces a missing hash, so that the check takes equally long. */
  private readonly decoy = `${CURRENT_PREFIX}${generateRandomBase64(SALT_BYTES)}$${generateRandomBase64(HASH_BYTES)}`;

  constructor({ HASH_QUEUE_LIMIT, WORKERS }: Env) {
    const slots = Math.max(1, Math.floor(availableParallelism() / WORKERS));
    const waiting = Math.ceil(HASH_QUEUE_LIMIT / WORKERS);
    this.slots = new FairSemaphore({ slots, waiting, waitingPerKey: Math.ceil(waiting / 2) });
  }

  /**
   * Hashes a password as soon as a slot is free.
   * @returns a PHC string.
   * @throws ProblemError `unavailable` if the queue is full.
   */
  async hash(password: string, requester: Requester): Promise<string> {
    return this.runInSlot(requester, () => hash(password, ARGON2));
  }

  /**
   * Returns true if the password matches the PHC string `phc`. Null never matches, but takes equally long.
   * @throws ProblemError `unavailable` if the queue is full.
   */
  async verify(phc: string | null, password: string, requester: Requester, hooks: Hooks): Promise<boolean> {
    return this.runInSlot(requester, async () => {
      await hooks.before();
      const matches = (await verify(phc ?? this.decoy, password)) && phc !== null;
      if (!matches) await hooks.failed();
      return matches;
    });
  }

  isOutdated(stored: string): boolean {
    return !stored.startsWith(CURRENT_PREFIX);
  }

  get waiting(): number {
    return this.slots.waiting;
  }

  private async runInSlot<T>({ account, network, signal }: Requester, work: () => Promise<T>): Promise<T> {
    const keys = [`account ${account}`, `network ${network}`];
    return this.slots.run(keys, work, signal).catch(async (error: unknown) => {
      if (error === signal?.reason) throw createUnavailableError('The client disconnected.', 1);
      if (!(error instanceof NoSlotError)) throw error;
      // The delay slows down clients that retry immediately.
      await delay(REFUSAL_DELAY_MILLIS, undefined, { signal }).catch(() => undefined);
      throw createUnavailableError('Too many passwords are being checked. Try again later.', 1);
    });
  }
}
