import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { type FieldError, validationFailed } from '../../platform/common/errors.js';
import { type Login, LoginThrottle } from '../../sessions/login-throttle.service.js';
import { PasswordService, askerOf } from './password.service.js';
import { loginKey } from '../model/comparison-keys.js';
import type { User } from '../model/user.js';

const WRONG: FieldError = {
  field: 'current_password',
  code: 'invalid_value',
  message: 'is not the current password',
};

/** Users prove that they know their password before they change it: a stolen session must not become a stolen account. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
  ) {}

  /** Wrong guesses count as failed logins. @throws ProblemError `login_throttled`. */
  async errors(user: User, sent: string | null | undefined, caller: Caller): Promise<FieldError[]> {
    if (sent === undefined || sent === null) {
      return [{ field: 'current_password', code: 'required', message: 'is required to change the password' }];
    }
    const login: Login = { name: loginKey(user.username), uuid: user.uuid, ip: caller.ip };
    const around = this.throttle.around(login);
    return (await this.passwords.verify(user.password_hash, sent, askerOf(caller), around)) ? [] : [WRONG];
  }
}

/**
 * Hashing is slow, so the proof is void if the password was changed or the user blocked in the meantime.
 * @param user locked. @param proven the user whose password was checked. @throws ProblemError `validation_failed`.
 */
export function assertStillProven(user: User, proven: User): void {
  if (user.status !== 'Active' || user.password_hash !== proven.password_hash)
    throw validationFailed([WRONG]);
}
