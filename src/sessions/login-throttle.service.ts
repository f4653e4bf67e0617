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
/** If a user has not logged in from a network for this time, the network counts as unknown again. */
const ADDRESS_SECONDS = 90 * 24 * HOUR_SECONDS;
/**
 * Time for which a login is delayed, in milliseconds. Several delayed logins from one network wait one after another.
 */
const DELAY_MILLIS = 1000;
/**
 * Maximum number of logins from one network that are delayed at the same time. A delayed login occupies a connection,
 * but costs no computing time.
 */
const MAX_DELAYED = 10;

export interface Login {
  /** The login key of the entered user name or email address. */
  name: string;
  /**
   * Uuid of the user with this name, or undefined for an unknown name. Failed logins count for the user, whether the
   * user name or the email address was entered.
   */
  uuid: string | undefined;
  ip: string;
}

/**
 * Slows down the guessing of passwords (interface §2). Failed logins are counted in the database, so that all instances
 * agree. There are three limits: for a user from one network, for a user from all networks, and for a network. A
 * network is an IPv4 address or the /64 of an IPv6 address. Failed logins with an unknown name are counted as if a user
 * had this name.
 *
 * If a user has logged in from a network before, only the first limit applies to logins from there. Otherwise an
 * attacker could lock out the user, or a whole office with a shared address.
 */
@Injectable()
export class LoginThrottle {
  /** The logins that this instance currently delays. Other instances delay their logins independently. */
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
   * Rejects a login if there are too many failed logins with its name. If its network has too many failed logins,
   * delays the login, or rejects it if the same name has already failed there. Called before the password is hashed.
   * @throws ProblemError `login_throttled` with `Retry-After` in seconds.
   */
  async delayOrReject(login: Login, signal?: AbortSignal): Promise<void> {
    const ends = await this.findLimitEnd(login);
    if (ends === undefined) return;
    const wait = () => delay(DELAY_MILLIS, undefined, { signal });
    await this.delayed.run([toNetwork(login.ip)], wait, signal).catch((error: unknown) => {
      throw error instanceof NoSlotError
        ? createThrottledError(ends)
        : createUnavailableError('The client disconnected.', 1);
    });
  }

  /**
   * Returns the hooks for `PasswordService.verify`. They check the limits before a password is hashed, and count a
   * failed login.
   */
  createVerifyHooks(login: Login) {
    return {
      before: async (): Promise<void> => {
        await this.findLimitEnd(login);
      },
      failed: () => this.countFailure(login),
    };
  }

  /**
   * Deletes the failed logins of the user from this network and stores the network. Runs in the transaction of the
   * login, which has locked the user.
   */
  async recordSuccess(tx: Sql, uuid: string, login: Login): Promise<void> {
    await this.repository.clear(tx, scopesOf(login).pair);
    await this.repository.rememberNetwork(tx, uuid, toNetwork(login.ip), now());
  }

  async purge(): Promise<void> {
    const time = now();
    await this.repository.deleteEnded(computeOldestWindowEnd(time));
    await this.repository.deleteNetworksBefore(addSeconds(time, -ADDRESS_SECONDS));
  }

  /**
   * Checks the limits.
   * @returns undefined if the login may continue at once. If it must be delayed, the time at which the limit on the
   * network ends.
   * @throws ProblemError `login_throttled` if the login must be rejected.
   */
  private async findLimitEnd(login: Login): Promise<DbTime | undefined> {
    const time = now();
    const { pair, user, network } = scopesOf(login);
    const rows = await this.repository.find([pair, user, network], computeOldestWindowEnd(time));
    for (const row of rows) {
      const latest = addSeconds(time, row.scope === pair ? PAIR_WINDOW_SECONDS : HOUR_SECONDS);
      // A window that began in the future begins now, so that no user waits longer than a window lasts.
      if (row.window_ends > latest)
        await this.repository.shortenWindow(Object.assign(row, { window_ends: latest }));
    }
    const findWindowEnd = (scope: string, limit: number): DbTime | undefined =>
      rows.find((row) => row.scope === scope && row.window_ends > time && row.failures >= limit)?.window_ends;
    const ofPair = findWindowEnd(pair, this.env.LOGIN_FAILURES_PER_NAME);
    if (ofPair !== undefined) throw createThrottledError(ofPair);
    const ofUser = findWindowEnd(user, this.env.LOGIN_FAILURES_PER_USER);
    const ofNetwork = findWindowEnd(network, this.env.LOGIN_FAILURES_PER_IP);
    const ends = ofUser ?? ofNetwork;
    if (ends === undefined || (await this.repository.isKnownNetwork(login.uuid ?? '', toNetwork(login.ip))))
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
 * Returns the earliest window end to keep: a window that ended before this time is ignored and deleted. The shortest
 * window takes 15 minutes, but its failed logins matter for an hour.
 */
const computeOldestWindowEnd = (time: DbTime): DbTime => addSeconds(time, PAIR_WINDOW_SECONDS - HOUR_SECONDS);

function scopesOf({ name, uuid, ip }: Login): { pair: string; user: string; network: string } {
  const account = uuid === undefined ? ['name', name] : ['user', uuid];
  const network = toNetwork(ip);
  return {
    pair: sha256(JSON.stringify([...account, network])),
    user: sha256(JSON.stringify(account)),
    network: sha256(network),
  };
}

function createThrottledError(limitEnd: DbTime): ProblemError {
  const seconds = Math.max(1, Math.ceil((toMillis(limitEnd) - toMillis(now())) / 1000));
  return new ProblemError('login_throttled', `Too many failed logins. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
