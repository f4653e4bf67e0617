import { Injectable } from '@nestjs/common';
import { LoginThrottle } from '../sessions/login-throttle.service.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { PasswordService } from '../users/password.service.js';
import { loginKey } from '../users/user.keys.js';
import { UsersService } from '../users/users.service.js';

/** Checks a name and a password. */
@Injectable()
export class LoginService {
  constructor(
    private readonly users: UsersService,
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * The user, or undefined. Unknown, blocked and password-less users take the same time as a wrong password.
   * The throttle is asked in the hash's own place of the queue, so that guesses sent at once count one another.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async login(name: string, password: string, ip: string): Promise<LoggedIn | undefined> {
    const key = loginKey(name);
    const user = await this.users.findCredentials(name);
    // A blocked user fails like one without a password: the failure is counted in the hash's place of the queue too.
    const stored = user?.status === 'Active' ? user.password_hash : null;
    const fits = await this.passwords.verify(stored, password, this.throttle.around(key, ip));
    if (!user || !fits) return undefined;
    await this.throttle.clear(key, ip);
    if (user.password_hash !== null) await this.users.refreshHash(user.uuid, user.password_hash, password);
    await this.users.touch(user.uuid);
    return { uuid: user.uuid, username: user.username };
  }
}
