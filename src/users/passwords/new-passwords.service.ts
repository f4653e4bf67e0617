import { Injectable } from '@nestjs/common';
import type { FieldError } from '../../platform/common/errors.js';
import { type PasswordFault, isGuessableKey, passwordFault } from '../../platform/common/secret-rules.js';
import { Env } from '../../platform/config/env.js';
import { localPart } from '../model/formats.js';
import { loginKey } from '../model/comparison-keys.js';

let list: Promise<(text: string) => boolean> | undefined;

/**
 * Whether a text in lower case is on a list of 49,000 common and breached passwords (`@zxcvbn-ts/language-common`). The list
 * is read when the first password is set: it takes 4 MiB, which most processes never need.
 */
export function commonPasswords(): Promise<(text: string) => boolean> {
  list ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const words = new Set(dictionary['passwords-common']);
    return (text) => words.has(text);
  });
  return list;
}

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
