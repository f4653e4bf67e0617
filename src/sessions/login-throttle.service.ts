import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, unavailable } from '../platform/common/errors.js';
import { FairSemaphore, NoSlotError } from '../platform/common/fair-semaphore.js';
import { sha256 } from '../platform/common/secrets.js';
import { networkOf } from '../platform/http/request-headers.js';
import { type DbTime, now, secondsFrom, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { LoginThrottleRepository } from './login-throttle.repository.js';

const PAIR_WINDOW_SECONDS = 15 * 60;
const HOUR_SECONDS = 60 * 60;
/** Networks from which a user has not logged in for so long are new to the user again. */
const ADDRESS_SECONDS = 90 * 24 * HOUR_SECONDS;
/** Between two delayed logins of one network. */
const DELAY_MILLIS = 1000;
/** Delayed logins of one network. They do no work, but hold a connection each. */
const MOST_DELAYED = 10;

/** Who logs in from where. */
export interface Login {
  /** What was typed, in its key form. */
  name: string;
  /** The user of that name, if there is one: counted by it, whichever of the names is used. */
  uuid: string | undefined;
  ip: string;
}

/**
 * Slows down password guessing (interface §2). Failures are counted in the database, so that all instances agree: of a
 * user from an address, of a user from everywhere, and of an address. A name that nobody has counts as a user. IPv6
 * addresses count by /64. The last two limits do not hold for an address from which the user has logged in before: others
 * who guess must not keep the user out, nor an office that shares an address.
 */
@Injectable()
export class LoginThrottle {
  /** Each process delays on its own. */
  private readonly delayed = new FairSemaphore({
    slots: Infinity,
    slotsPerKey: 1,
    waitingPerKey: MOST_DELAYED - 1,
  });

  constructor(
    private readonly env: Env,
    private readonly repository: LoginThrottleRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Asked before a login waits for its hash: a name that is new to an address with too many failures waits here, where
   * it costs nothing. @throws ProblemError `login_throttled` with `Retry-After` in seconds.
   */
  async admit(login: Login, signal?: AbortSignal): Promise<void> {
    const ends = await this.check(login);
    if (ends === undefined) return;
    const wait = () => delay(DELAY_MILLIS, undefined, { signal });
    await this.delayed.run([networkOf(login.ip)], wait, signal).catch((error: unknown) => {
      throw error instanceof NoSlotError ? throttled(ends) : unavailable('The client has left.', 1);
    });
  }

  /** Hooks for `PasswordService.verify`: check before a password is hashed, count after it failed. */
  around(login: Login) {
    return {
      before: async (): Promise<void> => {
        await this.check(login);
      },
      failed: () => this.countFailure(login),
    };
  }

  /** Part of the transaction of a login, which has locked the user. */
  async succeeded(tx: Sql, uuid: string, login: Login): Promise<void> {
    await this.repository.clear(tx, scopesOf(login).pair);
    await this.repository.rememberAddress(tx, uuid, networkOf(login.ip), now());
  }

  async purge(): Promise<void> {
    const time = now();
    await this.repository.deleteEnded(remembered(time));
    await this.repository.deleteAddressesBefore(secondsFrom(time, -ADDRESS_SECONDS));
  }

  /** Returns when the limit of the network ends, by which the login is delayed. @throws ProblemError `login_throttled`. */
  private async check(login: Login): Promise<DbTime | undefined> {
    const time = now();
    const { pair, user, network } = scopesOf(login);
    const rows = await this.repository.find([pair, user, network], remembered(time));
    const end = (scope: string, limit: number): DbTime | undefined =>
      rows.find((row) => row.scope === scope && row.window_ends > time && row.failures >= limit)?.window_ends;
    const ofPair = end(pair, this.env.LOGIN_FAILURES_PER_NAME);
    if (ofPair !== undefined) throw throttled(ofPair);
    const ofUser = end(user, this.env.LOGIN_FAILURES_PER_USER);
    const ofNetwork = end(network, this.env.LOGIN_FAILURES_PER_IP);
    const ends = ofUser ?? ofNetwork;
    if (ends === undefined || (await this.repository.hasAddress(login.uuid ?? '', networkOf(login.ip))))
      return undefined;
    if (ofUser !== undefined || rows.some(({ scope }) => scope === pair)) throw throttled(ends);
    return ends;
  }

  private async countFailure(login: Login): Promise<void> {
    const time = now();
    const { pair, user, network } = scopesOf(login);
    await this.transactions.run(async (tx) => {
      await this.repository.count(tx, pair, time, secondsFrom(time, PAIR_WINDOW_SECONDS));
      await this.repository.count(tx, user, time, secondsFrom(time, HOUR_SECONDS));
      await this.repository.count(tx, network, time, secondsFrom(time, HOUR_SECONDS));
    });
  }
}

/** A failure is remembered for an hour, also where its window is shorter: windows that ended since then. */
const remembered = (time: DbTime): DbTime => secondsFrom(time, PAIR_WINDOW_SECONDS - HOUR_SECONDS);

function scopesOf({ name, uuid, ip }: Login): { pair: string; user: string; network: string } {
  const account = uuid === undefined ? ['name', name] : ['user', uuid];
  const network = networkOf(ip);
  return {
    pair: sha256(JSON.stringify([...account, network])),
    user: sha256(JSON.stringify(account)),
    network: sha256(network),
  };
}

function throttled(ends: DbTime): ProblemError {
  const seconds = Math.max(1, Math.ceil((toMillis(ends) - toMillis(now())) / 1000));
  return new ProblemError('login_throttled', `Too many failed logins; try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
