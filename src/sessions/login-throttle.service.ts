import { Injectable } from '@nestjs/common';
import { ProblemError } from '../common/errors.js';
import { sha256 } from '../common/secret.js';
import { networkOf } from '../http/network.js';
import { now, secondsFrom, toMillis } from '../common/time.js';
import { Env } from '../config/env.js';
import type { Sql } from '../database/engine/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { LoginThrottleRepository } from './login-throttle.repository.js';

const NAME_WINDOW_SECONDS = 15 * 60;
const IP_WINDOW_SECONDS = 60 * 60;

/**
 * Slows down password guessing (interface §2). Failures per (name, address) and per address are counted in the database,
 * so that all instances agree. `name` is what was typed, in its key form; unknown names count the same.
 */
@Injectable()
export class LoginThrottle {
  constructor(
    private readonly env: Env,
    private readonly repository: LoginThrottleRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /** @throws ProblemError `login_throttled` with `Retry-After` in seconds. */
  async check(name: string, ip: string): Promise<void> {
    const time = now();
    const byName = nameScope(name, ip);
    const windows = await this.repository.find([byName, ipScope(ip)], time);
    const full = windows.filter(
      ({ scope, failures }) =>
        failures >= (scope === byName ? this.env.LOGIN_FAILURES_PER_NAME : this.env.LOGIN_FAILURES_PER_IP),
    );
    if (full.length === 0) return;
    const ends = Math.max(...full.map(({ window_ends }) => toMillis(window_ends)));
    const seconds = Math.max(1, Math.ceil((ends - toMillis(time)) / 1000));
    throw new ProblemError('login_throttled', `Too many failed logins; try again in ${seconds} seconds.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }

  async countFailure(name: string, ip: string): Promise<void> {
    const time = now();
    await this.transactions.run(async (tx) => {
      await this.repository.count(tx, nameScope(name, ip), time, secondsFrom(time, NAME_WINDOW_SECONDS));
      await this.repository.count(tx, ipScope(ip), time, secondsFrom(time, IP_WINDOW_SECONDS));
    });
  }

  /** Hooks for `PasswordService.verify`: check before a password is hashed, count after it failed. */
  around(name: string, ip: string) {
    return { before: () => this.check(name, ip), failed: () => this.countFailure(name, ip) };
  }

  async clear(tx: Sql, name: string, ip: string): Promise<void> {
    await this.repository.clear(tx, nameScope(name, ip));
  }

  async purge(): Promise<void> {
    await this.repository.deleteEnded(now());
  }
}

const nameScope = (name: string, ip: string): string => sha256(JSON.stringify([name, networkOf(ip)]));
const ipScope = (ip: string): string => sha256(networkOf(ip));
