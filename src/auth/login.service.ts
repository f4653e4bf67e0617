import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { toNetwork } from '../platform/http/request-headers.js';
import { type Login, LoginThrottle } from '../sessions/login-throttle.service.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PasswordService } from '../users/passwords/password.service.js';
import { toLoginKey } from '../users/model/comparison-keys.js';
import { type Credentials, UsersService } from '../users/users.service.js';

interface LoginRequest {
  ip: string;
  requestId: string;
  /** A signal that aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
}

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
   * Verifies the password and starts a session. Logins of unknown users, blocked users and users without a password
   * take as long as logins with a wrong password. The throttle is checked again right before a password is hashed.
   * Parallel guesses can therefore exceed the limit by at most the number of CPU cores.
   * @returns undefined if the login fails.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async login(name: string, password: string, request: LoginRequest): Promise<LoggedIn | undefined> {
    const user = await this.users.findCredentials(name);
    const login: Login = { name: toLoginKey(name), uuid: user?.uuid, ip: request.ip };
    const requester = {
      account: login.uuid ?? `name ${login.name}`,
      network: toNetwork(login.ip),
      signal: request.signal,
    };
    await this.throttle.delayOrReject(login, request.signal);
    // Unknown and blocked users are treated like users without a password, so that their failed logins are counted in
    // the same way.
    const stored = user?.status === 'Active' ? user.password_hash : null;
    const matches = await this.passwords.verify(
      stored,
      password,
      requester,
      this.throttle.createVerifyHooks(login),
    );
    if (!user || stored === null || !matches) {
      await this.audit.recordFailedLogin(
        { name: name === password ? '' : name, key: login.name, user: user?.uuid },
        request,
      );
      return undefined;
    }
    const token = await this.startSession(user, login, request);
    // The stored hash changed during the check, because of a new password or another login that rehashed it. Verify
    // against the new hash.
    if (token === undefined) return this.login(name, password, request);
    await this.users.rehashIfOutdated(user.uuid, stored, password, requester);
    return { uuid: user.uuid, username: user.username, token };
  }

  /**
   * Starts a session after the password was verified.
   * @returns undefined if the user was blocked or the stored hash changed while the password was verified.
   */
  private async startSession(
    { uuid, username, password_hash }: Credentials,
    login: Login,
    { ip, requestId }: LoginRequest,
  ): Promise<string | undefined> {
    const caller: Caller = {
      actor: { kind: 'user', id: uuid, username, roles: [], sessionId: '' },
      ip,
      requestId,
    };
    return this.transactions.run(async (tx) => {
      const now = await this.users.lockCredentials(tx, uuid);
      const same = now?.status === 'Active' && now.password_hash === password_hash;
      if (!same) return undefined;
      await this.throttle.recordSuccess(tx, uuid, login);
      await this.users.updateLastAccess(uuid, tx);
      return this.sessions.start(tx, uuid, caller);
    });
  }
}
