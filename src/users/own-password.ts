import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import type { FieldError } from '../common/errors.js';
import { LoginThrottle } from '../sessions/login-throttle.service.js';
import { PasswordService } from './password.service.js';
import { loginKey } from './user.keys.js';
import type { User } from './user.model.js';

/** Proof that whoever changes their own password knows it: a stolen session must not become a stolen account. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
  ) {}

  /** Wrong guesses count as failed logins. @throws ProblemError `login_throttled`. */
  async errors(user: User, given: string | null | undefined, { ip }: Caller): Promise<FieldError[]> {
    if (given === undefined || given === null) {
      return [{ field: 'current_password', code: 'required', message: 'is required to change the password' }];
    }
    const name = loginKey(user.username);
    if (await this.passwords.verify(user.password_hash, given, this.throttle.around(name, ip))) return [];
    return [{ field: 'current_password', code: 'invalid_value', message: 'is not the current password' }];
  }
}
