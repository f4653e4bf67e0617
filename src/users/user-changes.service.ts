import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import type { FieldError } from '../platform/common/errors.js';
import type { CheckedInput } from '../platform/input/read-input.js';
import type { User } from './model/user.js';
import { NewPasswords } from './passwords/new-passwords.service.js';
import { PasswordService, toRequester } from './passwords/password.service.js';
import { UserSettings } from './rules/user-settings.js';
import { type UserPatch, type ValidatedChange, validateChange } from './rules/user-rules.js';
import type { UserInput, WritableUserInput } from './rules/user.input.js';

/** Validates changes of a user and hashes passwords, both for the API and for SCIM. */
@Injectable()
export class UserChanges {
  constructor(
    private readonly passwords: PasswordService,
    private readonly newPasswords: NewPasswords,
    private readonly settings: UserSettings,
  ) {}

  validate<T extends UserInput>(
    current: User,
    input: Pick<CheckedInput<T>, 'value' | 'errors'>,
  ): ValidatedChange<T> {
    return validateChange(current, input, this.settings);
  }

  /**
   * Validates the new password of a change after its other fields.
   * @returns an empty list or one error.
   */
  async validatePassword({ input, errors, after }: ValidatedChange<UserInput>): Promise<FieldError[]> {
    if (!input.password || errors.some(({ field }) => field === 'password')) return [];
    return this.newPasswords.validate(input.password, after);
  }

  /**
   * Hashes the new password of a change. This is slow, so call it before the transaction.
   * @returns undefined if the password does not change, null if it is removed.
   */
  async hashPassword({ password }: UserInput, caller: Caller): Promise<string | null | undefined> {
    return typeof password === 'string' ? this.passwords.hash(password, toRequester(caller)) : password;
  }

  /** Generates and hashes a random password. */
  async generatePassword(caller: Caller): Promise<{ password: string; hash: string }> {
    const password = this.newPasswords.generate();
    return { password, hash: await this.passwords.hash(password, toRequester(caller)) };
  }
}

/**
 * Converts a validated input to a patch.
 * @param password_hash the hash of the new password, null to remove the password, or undefined to keep it.
 */
export function toPatch(input: WritableUserInput, password_hash?: string | null): UserPatch {
  const { password: _, current_password: _proof, ...patch } = input;
  return password_hash === undefined ? patch : { ...patch, password_hash };
}
