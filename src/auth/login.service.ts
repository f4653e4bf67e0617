import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { LoginThrottle } from '../sessions/login-throttle.service.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PasswordService } from '../users/passwords/password.service.js';
import { loginKey } from '../users/model/keys.js';
import { type Credentials, UsersService } from '../users/users.service.js';

/** Checks a name and a password, and starts a session. */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
    private readonly sessions: SessionsService,
    private readonly transactions: TransactionRunner,
    private readonly audit: AuditService,
  ) {}

  /**
   * @returns the user with a new session, or undefined. Unknown, blocked and password-less users take the same time as a
   * wrong password. The throttle is checked when a hash leaves the queue, so that of guesses sent at once no more than
   * there are cores exceed the limit.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async login(
    name: string,
    password: string,
    request: { ip: string; requestId: string },
  ): Promise<LoggedIn | undefined> {
    const key = loginKey(name);
    const user = await this.users.findCredentials(name);
    // A blocked user fails like one without a password, so that the failure is counted in the same place.
    const stored = user?.status === 'Active' ? user.password_hash : null;
    const matches = await this.passwords.verify(stored, password, this.throttle.around(key, request.ip));
    if (!user || stored === null || !matches) {
      await this.audit.recordFailedLogin(
        { name: name === password ? '' : name, key, user: user?.uuid },
        request,
      );
      return undefined;
    }
    const token = await this.startSession(user, key, request);
    // The hash changed during the check: a new password, or a concurrent login that rehashed it. Check against the new one.
    if (token === undefined) return this.login(name, password, request);
    await this.users.refreshHash(user.uuid, stored, password);
    return { uuid: user.uuid, username: user.username, token };
  }

  /** @returns undefined when the user was blocked, or the password hash changed, while the password was checked. */
  private async startSession(
    { uuid, username, password_hash }: Credentials,
    key: string,
    request: { ip: string; requestId: string },
  ): Promise<string | undefined> {
    const caller: Caller = {
      actor: { kind: 'user', id: uuid, username, roles: [], sessionId: '' },
      ...request,
    };
    return this.transactions.run(async (tx) => {
      const now = await this.users.lockCredentials(tx, uuid);
      const same = now?.status === 'Active' && now.password_hash === password_hash;
      if (!same) return undefined;
      await this.throttle.clear(tx, key, request.ip);
      await this.users.touch(uuid, tx);
      return this.sessions.start(tx, uuid, caller);
    });
  }
}
