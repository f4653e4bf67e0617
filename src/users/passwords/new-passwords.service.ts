import { Injectable } from '@nestjs/common';
import type { FieldError } from '../../platform/common/errors.js';
import { type PasswordFault, isGuessableKey, passwordFault } from '../../platform/common/secret-rules.js';
import { Env } from '../../platform/config/env.js';
import { localPart } from '../model/formats.js';
import { loginKey } from '../model/keys.js';
import { commonPasswords } from './common-passwords.js';

interface Names {
  username: string;
  email: string;
}

/** The rules of passwords and keys that a person chose, with the list of common passwords: the same at every door. */
@Injectable()
export class NewPasswords {
  constructor(private readonly env: Env) {}

  /** @param password in NFC. @param user as it will be. @returns at most one error. */
  async errors(password: string, user: Names): Promise<FieldError[]> {
    const fault = await this.fault(password, user);
    return fault ? [{ field: 'password', ...fault }] : [];
  }

  /** @returns the first broken rule. */
  async fault(password: string, { username, email }: Names): Promise<PasswordFault | undefined> {
    const key = loginKey(password);
    if (key === loginKey(username) || key === loginKey(email)) {
      return { code: 'invalid_value', message: 'may not be the username or the e-mail address' };
    }
    const known = [username, email, localPart(email)];
    const minLength = this.env.PASSWORD_MIN_LENGTH;
    return passwordFault(password, { minLength, known, isWord: await commonPasswords() });
  }

  /** Whether an API key can be guessed: repetitions, sequences and common words count for little. */
  async isGuessable(key: string): Promise<boolean> {
    return isGuessableKey(key, { isWord: await commonPasswords() });
  }
}
