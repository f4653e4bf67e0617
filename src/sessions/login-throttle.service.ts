import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, createUnavailableError } from '../platform/common/errors.js';
import { FairSemaphore, NoSlotError } from '../platform/common/fair-semaphore.js';
import { sha256 } from '../platform/common/secrets.js';
import { toNetwork } from '../platform/http/request-headers.js';
import { type DbTime, now, addSeconds, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { LoginThrottleRepository } from './login-throttle.repository.js';

const PAIR_WINDOW_SECONDS = 15 * 60;
const HOUR_SECONDS = 60 * 60;
/** After this time without a login, a network counts as new to the user. */
const ADDRESS_SECONDS = 90 * 24 * HOUR_SECONDS;
/** Duration of a delay. Delayed logins of one network wait one after the other. */
const DELAY_MILLIS = 1000;
/** Maximum number of delayed logins of one network. Each one holds a connection, but does no work. */
const MAX_DELAYED = 10;

/** The user name and the address of a login. */
export interface Login {
  /** The entered name, as a login key. */
  name: string;
  /**
   * Uuid of the user with that name, if the user exists. Failures count for the user, no matter whether the user name
   * or the e-mail address was entered.
   */
  uuid: string | undefined;
  ip: string;
}

/**
 * Slows down password guessing (interface §2). Failures are counted in the database, so that all instances agree. There
 * are three limits: for a user from one address, for a user from all addresses, and for an address. An unknown name
 * counts as a user, and IPv6 addresses are counted by /64.
 *
 * The last two limits do not apply to addresses from which the user has logged in before. Otherwise an attacker could
 * lock out the user, or an office with a shared address.
 */
@Injectable()
export class LoginThrottle {
  /** Delayed logins of this instance. Instances do not share delays. */
  private readonly delayed = new FairSemaphore({
    slots: Infinity,
    slotsPerKey: 1,
    waitingPerKey: MAX_DELAYED - 1,
  });

  constructor(
    private readonly env: Env,
    private readonly repository: LoginThrottleRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Delays a login from a network with too many failures before it waits for a hash. A login is rejected without a
   * delay if the same name has failed from this network before.
   * @throws ProblemError `login_throttled` with `Retry-After` in seconds.
   */
  async admit(login: Login, signal?: AbortSignal): Promise<void> {
    const ends = await this.checkLimits(login);
    if (ends === undefined) return;
    const wait = () => delay(DELAY_MILLIS, undefined, { signal });
    await this.delayed.run([toNetwork(login.ip)], wait, signal).catch((error: unknown) => {
      throw error instanceof NoSlotError
        ? createThrottledError(ends)
        : createUnavailableError('The client disconnected.', 1);
    });
  }

  /**
   * Returns hooks for `PasswordService.verify`, which check the limits before a password
   * is hashed and count a failure.
   */
  toHooks(login: Login) {
    return {
      before: async (): Promise<void> => {
        await this.checkLimits(login);
      },
      failed: () => this.countFailure(login),
    };
  }

  /**
   * Clears the failures of the user from this network, and stores the network. Runs in the transaction of the login,
   * which has locked the user.
   */
  async recordSuccess(tx: Sql, uuid: string, login: Login): Promise<void> {
    await this.repository.clear(tx, scopesOf(login).pair);
    await this.repository.rememberAddress(tx, uuid, toNetwork(login.ip), now());
  }

  async purge(): Promise<void> {
    const time = now();
    await this.repository.deleteEnded(computeOldestEnd(time));
    await this.repository.deleteAddressesBefore(addSeconds(time, -ADDRESS_SECONDS));
  }

  /**
   * Returns the time until which logins from this network are limited, if this login must be delayed.
   * @throws ProblemError `login_throttled`.
   */
  private async checkLimits(login: Login): Promise<DbTime | undefined> {
    const time = now();
    const { pair, user, network } = scopesOf(login);
    const rows = await this.repository.find([pair, user, network], computeOldestEnd(time));
    const findEnd = (scope: string, limit: number): DbTime | undefined =>
      rows.find((row) => row.scope === scope && row.window_ends > time && row.failures >= limit)?.window_ends;
    const ofPair = findEnd(pair, this.env.LOGIN_FAILURES_PER_NAME);
    if (ofPair !== undefined) throw createThrottledError(ofPair);
    const ofUser = findEnd(user, this.env.LOGIN_FAILURES_PER_USER);
    const ofNetwork = findEnd(network, this.env.LOGIN_FAILURES_PER_IP);
    const ends = ofUser ?? ofNetwork;
    if (ends === undefined || (await this.repository.hasAddress(login.uuid ?? '', toNetwork(login.ip))))
      return undefined;
    if (ofUser !== undefined || rows.some(({ scope }) => scope === pair)) throw createThrottledError(ends);
    return ends;
  }

  private async countFailure(login: Login): Promise<void> {
    const time = now();
    const { pair, user, network } = scopesOf(login);
    await this.transactions.run(async (tx) => {
      await this.repository.countFailure(tx, pair, time, addSeconds(time, PAIR_WINDOW_SECONDS));
      await this.repository.countFailure(tx, user, time, addSeconds(time, HOUR_SECONDS));
      await this.repository.countFailure(tx, network, time, addSeconds(time, HOUR_SECONDS));
    });
  }
}

/**
 * Returns the earliest end of a window whose failures still count. Failures count for an hour,
 * even if their window is shorter.
 */
const computeOldestEnd = (time: DbTime): DbTime => addSeconds(time, PAIR_WINDOW_SECONDS - HOUR_SECONDS);

function scopesOf({ name, uuid, ip }: Login): { pair: string; user: string; network: string } {
  const account = uuid === undefined ? ['name', name] : ['user', uuid];
  const network = toNetwork(ip);
  return {
    pair: sha256(JSON.stringify([...account, network])),
    user: sha256(JSON.stringify(account)),
    network: sha256(network),
  };
}

function createThrottledError(ends: DbTime): ProblemError {
  const seconds = Math.max(1, Math.ceil((toMillis(ends) - toMillis(now())) / 1000));
  return new ProblemError('login_throttled', `Too many failed logins. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
