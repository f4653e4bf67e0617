import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, SYSTEM } from '../../access/actor.js';
import { WEBMASTER } from '../../access/roles.js';
import { ApiKeysService, generateApiKey } from '../../api-keys/api-keys.service.js';
import { createToken } from '../../platform/common/secrets.js';
import { toNormalForm } from '../../platform/common/text.js';
import { Env, EnvError, FIRST_WEBMASTER } from '../../platform/config/env.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { EMPTY_USER } from '../../users/model/user.js';
import { NewPasswords } from '../../users/passwords/new-passwords.service.js';
import { PasswordService, toRequester } from '../../users/passwords/password.service.js';
import { UserWriter } from '../../users/writer/user-writer.service.js';
import { UserRecords } from '../../users/search/user-records.service.js';

/** Placeholder e-mail address of the first Webmaster, in a domain that never exists (RFC 2606). */
const EMAIL = 'admin@rollcall.invalid';
const CALLER: Caller = { actor: SYSTEM, requestId: 'first-start', ip: '' };

/**
 * Credentials of the first start. Contains generated secrets, which are shown only once, but no secrets from the
 * settings.
 */
export interface FirstCredentials {
  username: string;
  password?: string;
  apiKey?: string;
}

/** Creates the first Webmaster and the first API key on an empty database. */
@Injectable()
export class FirstStart {
  constructor(
    private readonly env: Env,
    private readonly users: UserRecords,
    private readonly writer: UserWriter,
    private readonly keys: ApiKeysService,
    private readonly passwords: PasswordService,
    private readonly newPasswords: NewPasswords,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Creates the first credentials.
   * @returns undefined if users exist, or if another instance has just created them.
   * @throws EnvError if a secret in the settings is easy to guess. `loadEnv` cannot check this, because the list of
   * common passwords is not available there.
   */
  async createCredentials(): Promise<FirstCredentials | undefined> {
    if (!(await this.users.isEmpty())) return undefined;
    await this.assertCredentialsHardToGuess();
    const password = this.env.BOOTSTRAP_WEBMASTER_PASSWORD ?? createToken().slice(0, 20);
    const keyId = uuidv7();
    const apiKey = this.env.BOOTSTRAP_API_KEY ?? generateApiKey(keyId);
    const password_hash = await this.passwords.hash(toNormalForm(password, 'NFC'), toRequester(CALLER));
    const patch = { username: FIRST_WEBMASTER, email: EMAIL, roles: [WEBMASTER], password_hash };
    const first = await this.transactions.run(async (tx) => {
      const [outcome] = await this.writer.apply(tx, [{ kind: 'create', uuid: uuidv7(), patch }], CALLER);
      if (outcome?.outcome !== 'created') return false;
      await this.keys.insertKey(tx, { name: 'first key' }, CALLER, keyId, apiKey);
      return true;
    });
    if (!first) return undefined;
    return {
      username: FIRST_WEBMASTER,
      ...(this.env.BOOTSTRAP_WEBMASTER_PASSWORD === undefined && { password }),
      ...(this.env.BOOTSTRAP_API_KEY === undefined && { apiKey }),
    };
  }

  private async assertCredentialsHardToGuess(): Promise<void> {
    const { BOOTSTRAP_WEBMASTER_PASSWORD: password, BOOTSTRAP_API_KEY: key } = this.env;
    if (password !== undefined) {
      const user = { ...EMPTY_USER, username: FIRST_WEBMASTER, email: EMAIL };
      const fault = await this.newPasswords.findFault(toNormalForm(password, 'NFC'), user);
      if (fault)
        throw new EnvError(`BOOTSTRAP_WEBMASTER_PASSWORD must be a good password: it ${fault.message}.`);
    }
    if (key !== undefined && (await this.newPasswords.isGuessable(key))) {
      throw new EnvError('BOOTSTRAP_API_KEY must be more than common words, repetitions and sequences.');
    }
  }
}
