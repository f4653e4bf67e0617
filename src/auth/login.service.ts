import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { LoginThrottle } from '../sessions/login-throttle.service.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PasswordService } from '../users/passwords/password.service.js';
import { loginKey } from '../users/model/keys.js';
import { type Credentials, UsersService } from '../users/users.service.js';

/** A name and a password to a session. */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
    private readonly sessions: SessionsService,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * The user with a new session, or undefined. Unknown, blocked and password-less users take the same time as a wrong
   * password. The throttle is asked in the hash's own place of the queue: of guesses sent at once no more than there
   * are cores can run beyond the limit.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async login(
    name: string,
    password: string,
    request: { ip: string; requestId: string },
  ): Promise<LoggedIn | undefined> {
    const key = loginKey(name);
    const user = await this.users.findCredentials(name);
    // A blocked user fails like one without a password: the failure is counted in the hash's place of the queue too.
    const stored = user?.status === 'Active' ? user.password_hash : null;
    const fits = await this.passwords.verify(stored, password, this.throttle.around(key, request.ip));
    if (!user || stored === null || !fits) return undefined;
    const token = await this.startSession(user, key, request);
    // The password was set, or a login beside this one has stored its hash anew: what stands there now tells.
    if (token === undefined) return this.login(name, password, request);
    await this.users.refreshHash(user.uuid, stored, password);
    return { uuid: user.uuid, username: user.username, token };
  }

  /** Checking took its time: undefined where the user was blocked meanwhile, or has another password hash. */
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
