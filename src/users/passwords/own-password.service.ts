import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { type FieldError, createValidationError } from '../../platform/common/errors.js';
import { type Login, LoginThrottle } from '../../sessions/login-throttle.service.js';
import { PasswordService, toRequester } from './password.service.js';
import { toLoginKey } from '../model/comparison-keys.js';
import type { User } from '../model/user.js';
import { createFailure } from '../rules/failure.js';

const WRONG = createFailure('current_password', 'invalid_value', 'is not the current password');

/** Checks the current password when users change their own, so that a stolen session cannot take over an account. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * Checks the current password in the request. A wrong password counts as a failed login.
   * @returns the errors of the field, if any.
   * @throws ProblemError `login_throttled`.
   */
  async validate(user: User, sent: string | null | undefined, caller: Caller): Promise<FieldError[]> {
    if (sent === undefined || sent === null) {
      return [{ field: 'current_password', code: 'required', message: 'is required to change the password' }];
    }
    const login: Login = { name: toLoginKey(user.username), uuid: user.uuid, ip: caller.ip };
    const hooks = this.throttle.createVerifyHooks(login);
    return (await this.passwords.verify(user.password_hash, sent, toRequester(caller), hooks)) ? [] : [WRONG];
  }
}

/**
 * Throws an error if the user was blocked or got a new password after the check of the current password.
 * @param proven the user at the time of the check.
 * @throws ProblemError `validation_failed`.
 */
export function assertProofStillValid(user: User, proven: User): void {
  if (user.status !== 'Active' || user.password_hash !== proven.password_hash)
    throw createValidationError([WRONG]);
}
