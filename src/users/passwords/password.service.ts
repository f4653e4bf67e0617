import { Algorithm, hash, verify } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { unavailable } from '../../platform/common/errors.js';
import { FairSemaphore, NoSlotError } from '../../platform/common/fair-semaphore.js';
import { Env } from '../../platform/config/env.js';
import { networkOf } from '../../platform/http/request-headers.js';

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

/** How long the answer to a password is held back that finds the queue full. */
const REFUSAL_MILLIS = 1000;

/** The account that a hash is computed for (a user, a key, an unknown name), and its network. */
export interface Asker {
  account: string;
  network: string;
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined;
}

export const askerOf = ({ actor, ip }: Caller): Asker => ({
  account: actor.id ?? actor.kind,
  network: networkOf(ip),
});

interface Around {
  before(): Promise<void>;
  failed(): Promise<void>;
}

/**
 * Password hashes. At most as many are computed at once as there are cores, and a bounded number may wait, half of them of
 * one account or network. Accounts and networks are served in turn, so that a flood of logins slows down neither the service
 * nor other users. Workers divide both numbers among them, at least one each.
 */
@Injectable()
export class PasswordService {
  private readonly slots: FairSemaphore;
  /** Verified for an unknown user, so that the answer takes as long: the hash of no known password. */
  private readonly decoy = `${CURRENT}${base64(SALT_BYTES)}$${base64(HASH_BYTES)}`;

  constructor({ HASH_QUEUE_LIMIT, WORKERS }: Env) {
    const slots = Math.max(1, Math.floor(availableParallelism() / WORKERS));
    const waiting = Math.ceil(HASH_QUEUE_LIMIT / WORKERS);
    this.slots = new FairSemaphore({ slots, waiting, waitingPerKey: Math.ceil(waiting / 2) });
  }

  /** PHC form. @throws ProblemError `unavailable` when the queue is full. */
  async hash(password: string, asker: Asker): Promise<string> {
    return this.inSlot(asker, () => hash(password, PARAMETERS));
  }

  /**
   * True when the password fits the hash. For a user without a hash the same work is done and the answer is false.
   * @param around runs in the same slot: before the work, and when the password did not fit.
   * @throws ProblemError `unavailable` when the queue is full.
   */
  async verify(stored: string | null, password: string, asker: Asker, around: Around): Promise<boolean> {
    return this.inSlot(asker, async () => {
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
    return this.slots.waiting;
  }

  private async inSlot<T>({ account, network, signal }: Asker, work: () => Promise<T>): Promise<T> {
    const keys = [`account ${account}`, `network ${network}`];
    return this.slots.run(keys, work, signal).catch(async (error: unknown) => {
      if (error === signal?.reason) throw unavailable('The client has left.', 1);
      if (!(error instanceof NoSlotError)) throw error;
      // A client that tried again at once would load the service with refusals.
      await delay(REFUSAL_MILLIS, undefined, { signal }).catch(() => undefined);
      throw unavailable('Too many passwords are being checked.', 1);
    });
  }
}
