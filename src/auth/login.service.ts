import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { toNetwork } from '../platform/http/request-headers.js';
import { type Login, LoginThrottle } from '../sessions/login-throttle.service.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { toLoginKey } from '../users/model/comparison-keys.js';
import { type Credentials, UserRecords } from '../users/search/user-records.service.js';
import { UsersService } from '../users/users.service.js';

interface LoginRequest {
  ip: string;
  requestId: string;
  /** A signal that aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
  deviceTokens: readonly string[];
  /** True if the client keeps a device cookie. */
  isBrowser: boolean;
}

@Injectable()
export class LoginService {
  constructor(
    private readonly records: UserRecords,
    private readonly users: UsersService,
    private readonly throttle: LoginThrottle,
    private readonly sessions: SessionsService,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Verifies the password and starts a session. Logins of unknown users, blocked users and users without a password
   * take as long as logins with a wrong password. Parallel guesses can exceed the limit by at most the number of CPU
   * cores.
   * @returns undefined if the login fails.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async login(name: string, password: string, request: LoginRequest): Promise<LoggedIn | undefined> {
    const user = await this.records.findCredentials(name);
    const device = await this.throttle.findDevice(user?.uuid ?? '', request.deviceTokens);
    const login = { entered: name, name: toLoginKey(name), uuid: user?.uuid, ip: request.ip, device };
    const account = login.uuid ?? `name ${login.name}`;
    const requester = { account, network: toNetwork(login.ip), signal: request.signal };
    // Unknown and blocked users are treated like users without a password, so that their failed logins are counted in
    // the same way.
    const stored = user?.status === 'Active' ? user.password_hash : null;
    const matches = await this.users.verifyPassword(login, stored, password, requester, request);
    if (!user || stored === null || !matches) return undefined;
    const cookies = await this.startSession(user, login, request);
    // The stored hash changed during the check, because of a new password or another login that rehashed it. Verify
    // against the new hash.
    if (!cookies) return this.login(name, password, request);
    await this.users.rehashIfOutdated(user.uuid, stored, password, requester);
    return { uuid: user.uuid, username: user.username, ...cookies };
  }

  /**
   * Starts a session after the password was verified.
   * @returns undefined if the user was blocked or the stored hash changed while the password was verified.
   */
  private async startSession(
    { uuid, username, password_hash }: Credentials,
    login: Login,
    { ip, requestId, deviceTokens, isBrowser }: LoginRequest,
  ): Promise<Pick<LoggedIn, 'token' | 'deviceTokens'> | undefined> {
    const actor: Actor = { kind: 'user', id: uuid, username, roles: [], sessionId: '' };
    const caller = { actor, ip, requestId };
    return this.transactions.run(async (tx) => {
      const now = await this.records.lockCredentials(tx, uuid);
      const same = now?.status === 'Active' && now.password_hash === password_hash;
      if (!same) return undefined;
      await this.records.updateLastAccess(uuid, tx);
      return {
        token: await this.sessions.start(tx, uuid, caller),
        deviceTokens: isBrowser
          ? await this.throttle.rememberDevice(tx, uuid, login.device, deviceTokens)
          : [],
      };
    });
  }
}
