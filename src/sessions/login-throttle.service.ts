import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, createUnavailableError } from '../platform/common/errors.js';
import { FairSemaphore, NoSlotError } from '../platform/common/fair-semaphore.js';
import { createToken, sha256 } from '../platform/common/secrets.js';
import { toNetwork } from '../platform/http/request-headers.js';
import { type DbTime, HOUR_SECONDS, now, addSeconds, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { LoginThrottleRepository } from './login-throttle.repository.js';

const PAIR_WINDOW_SECONDS = 15 * 60;
/** Lifetime of a device, which begins anew with every login. */
export const DEVICE_SECONDS = 180 * 24 * HOUR_SECONDS;
/** Maximum number of devices per user. A new device then replaces the device whose last login is the oldest. */
const MAX_DEVICES = 20;
/** Maximum number of tokens in a device cookie, one for each user who has signed in with the browser. */
export const MAX_DEVICE_TOKENS = 8;
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
  /** The username or email address, as entered. */
  entered: string;
  /** The login key of the entered username or email address. */
  name: string;
  /**
   * Uuid of the user with this name, or undefined for an unknown name. Failed logins count for the user, whether the
   * username or the email address was entered.
   */
  uuid: string | undefined;
  ip: string;
  /** Hash of the user's device that sends the login, if any (`LoginThrottle.findDevice`). */
  device: string | undefined;
}

/**
 * Slows down the guessing of passwords (interface §2). Failed logins are counted in the database, so that all instances
 * agree. There are three limits: for a user from one network, for a user from all networks, and for a network. A
 * network is an IPv4 address or the /64 of an IPv6 address. Failed logins with an unknown name are counted as if a user
 * had this name.
 *
 * Failed logins with a device of the user count only for this device and for all devices of the user. An attacker can
 * therefore not lock out the user, or a whole office with a shared address.
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
   * @throws ProblemError `login_throttled` with `Retry-After` in seconds, `unavailable` if too many logins are delayed.
   */
  async delayOrReject(login: Login, signal?: AbortSignal): Promise<void> {
    if (!(await this.mustDelay(login))) return;
    const wait = () => delay(DELAY_MILLIS, undefined, { signal });
    await this.delayed.run([toNetwork(login.ip)], wait, signal).catch((error: unknown) => {
      const reason =
        error instanceof NoSlotError ? 'Too many logins are waiting.' : 'The client disconnected.';
      throw createUnavailableError(reason, 1);
    });
  }

  /** Deletes the failed logins of the user from this network or device, after the right password. */
  async recordSuccess(login: Login): Promise<void> {
    await this.repository.clear(scopesOf(login).pair);
  }

  /**
   * Finds the device of the user for a device cookie.
   * @param userUuid '' for an unknown user, so that the work is the same.
   * @param tokens tokens of the device cookie.
   * @returns the hash of the token, or undefined if the user has no such device.
   */
  async findDevice(userUuid: string, tokens: readonly string[]): Promise<string | undefined> {
    if (tokens.length === 0) return undefined;
    const [device] = await this.repository.findDevices(userUuid, tokens.map(sha256), now());
    return device?.token_hash;
  }

  /**
   * Stores or renews the device of a login. Runs in the transaction of the login, which has locked the user.
   * @param known hash of the device, if `findDevice` has found one.
   * @returns the tokens for the device cookie. Unknown tokens of the client are never stored.
   */
  async rememberDevice(
    tx: Sql,
    user_uuid: string,
    known: string | undefined,
    tokens: readonly string[],
  ): Promise<string[]> {
    const expires = addSeconds(now(), DEVICE_SECONDS);
    let token = tokens.find((sent) => sha256(sent) === known);
    if (token === undefined || (await this.repository.renewDevice(tx, sha256(token), expires)) === 0) {
      token = createToken();
      await this.repository.addDevice(tx, { token_hash: sha256(token), user_uuid, expires }, MAX_DEVICES);
    }
    return [...new Set([token, ...tokens])].slice(0, MAX_DEVICE_TOKENS);
  }

  /** Ends all devices of the users, because they have a new password or were deleted. */
  async endDevices(tx: Sql, userUuids: readonly string[]): Promise<void> {
    await this.repository.deleteDevices(tx, userUuids);
  }

  async purge(): Promise<void> {
    const time = now();
    await this.repository.deleteEnded(computeOldestWindowEnd(time));
    await this.repository.purgeDevices(time, addSeconds(time, DEVICE_SECONDS));
  }

  /**
   * Checks the limits.
   * @returns true if the login must be delayed, because of the limit on its network.
   * @throws ProblemError `login_throttled` if the login must be rejected.
   */
  async mustDelay(login: Login): Promise<boolean> {
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
    const ends =
      findWindowEnd(pair, this.env.LOGIN_FAILURES_PER_NAME) ??
      findWindowEnd(user, this.env.LOGIN_FAILURES_PER_USER);
    if (ends !== undefined) throw createThrottledError(ends);
    const ofNetwork = findWindowEnd(network, this.env.LOGIN_FAILURES_PER_IP);
    if (ofNetwork !== undefined && rows.some(({ scope }) => scope === pair))
      throw createThrottledError(ofNetwork);
    return ofNetwork !== undefined;
  }

  async countFailure(login: Login): Promise<void> {
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

/** Returns the scopes in which a failed login counts. A device has scopes of its own, in place of its network. */
function scopesOf({ name, uuid, ip, device }: Login): { pair: string; user: string; network: string } {
  const account = uuid === undefined ? ['name', name] : [device === undefined ? 'user' : 'devices', uuid];
  const network = device ?? toNetwork(ip);
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
