import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../access/actor.js';
import type { FieldError } from '../../platform/common/errors.js';
import { type PasswordFault, isGuessableKey, findPasswordFault } from '../../platform/common/secret-rules.js';
import { Env } from '../../platform/config/env.js';
import { localPartOf } from '../model/formats.js';
import { toLoginKey } from '../model/comparison-keys.js';
import { type User, listAddresses } from '../model/user.js';
import type { ValidatedChange } from '../rules/user-rules.js';
import type { UserInput } from '../rules/user.input.js';
import { PasswordService, toRequester } from './password.service.js';

let list: Promise<(text: string) => boolean> | undefined;

/**
 * Loads the function that returns true for a common password in lower case. The list of 49,000 passwords takes 4 MiB,
 * so it is loaded only when needed.
 */
export function loadCommonPasswordTest(): Promise<(text: string) => boolean> {
  list ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const words = new Set(dictionary['passwords-common']);
    return (text) => words.has(text);
  });
  return list;
}

/**
 * 32 characters that are hard to confuse. A random byte selects each character with the same probability, because 256
 * is a multiple of 32.
 */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUP_LENGTH = 4;
const GROUP = new RegExp(`.{${GROUP_LENGTH}}(?!$)`, 'g');
/** Minimum number of character groups in a generated password. Six groups have 120 bits of entropy. */
const MIN_GROUPS = 6;

/** Generates and hashes new passwords, and validates passwords and API keys that people have chosen. */
@Injectable()
export class NewPasswords {
  constructor(
    private readonly env: Env,
    private readonly passwords: PasswordService,
  ) {}

  /**
   * Validates the new password of a change after its other fields.
   * @returns an empty list or one error.
   */
  async validate({ input, errors, after }: ValidatedChange<UserInput>): Promise<FieldError[]> {
    if (!input.password || errors.some(({ field }) => field === 'password')) return [];
    const broken = await this.findFault(input.password, after);
    return broken ? [{ field: 'password', ...broken }] : [];
  }

  /**
   * Returns the first rule that a new password breaks, if any. The password must be normalized to NFC.
   * @param user the user after the change.
   */
  async findFault(password: string, user: User): Promise<PasswordFault | undefined> {
    const { username, email, attributes, authname } = user;
    const key = toLoginKey(password);
    if (key === toLoginKey(username) || key === toLoginKey(email)) {
      return { code: 'invalid_value', message: 'must not be the username or the e-mail address' };
    }
    const names = [user.firstname, user.middle_name, user.surname, user.known_as, user.external_id];
    const provided = [attributes['displayName'], attributes['name.formatted'], ...listAddresses(attributes)];
    const logins = [username, email, localPartOf(email), ...Object.values(authname).flat()];
    const known = [...names, ...logins, ...provided].filter((text) => typeof text === 'string');
    const minLength = this.env.PASSWORD_MIN_LENGTH;
    return findPasswordFault(password, { minLength, known, isWord: await loadCommonPasswordTest() });
  }

  /**
   * Hashes the new password of a change. This is slow, so call it before the transaction.
   * @returns undefined if the password does not change, null if it is removed.
   */
  async hash({ password }: UserInput, caller: Caller): Promise<string | null | undefined> {
    return typeof password === 'string' ? this.passwords.hash(password, toRequester(caller)) : password;
  }

  /** Generates and hashes a random password in groups, such as `h7qm-x3vb`. It is too random to break a rule. */
  async generate(caller: Caller): Promise<{ password: string; hash: string }> {
    const length = this.env.PASSWORD_MIN_LENGTH;
    const groups = Math.max(MIN_GROUPS, Math.ceil((length + 1) / (GROUP_LENGTH + 1)));
    const letters = [...randomBytes(groups * GROUP_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
    const password = letters.join('').replace(GROUP, '$&-');
    return { password, hash: await this.passwords.hash(password, toRequester(caller)) };
  }

  async isGuessable(key: string): Promise<boolean> {
    return isGuessableKey(key, { isWord: await loadCommonPasswordTest() });
  }
}
