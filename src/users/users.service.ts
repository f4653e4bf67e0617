import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, isSelf } from '../access/actor.js';
import { isWebmaster } from '../access/policy.js';
import { type FieldError, ProblemError, validationFailed } from '../common/errors.js';
import { readInput } from '../input/read-input.js';
import type { JsonObject } from '../common/json.js';
import { now } from '../common/time.js';
import type { Sql } from '../database/engine/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { OwnPassword } from './passwords/own-password.service.js';
import { PasswordService } from './passwords/password.service.js';
import { brokenRules } from './input/check.js';
import { ChangedUserInput, NewUserInput, type UserInput } from './input/user.input.js';
import type { User } from './model/user.js';
import { keepSelfFields } from './self-fields.js';
import { type UserPatch, newUser, settle } from './input/user-rules.js';
import { SELF_BLOCK, toProblem } from './change/failure.js';
import type { UserChange } from './change/change-set.js';
import { UserSettings } from './input/user-settings.js';
import { presentUser } from './user.view.js';
import { UserWriter, blocksSelf } from './change/user-writer.service.js';
import { type Credentials, UsersRepository } from './directory/users.repository.js';

export type { Credentials };

export interface ChangeConditions {
  /** The versions that `If-Match` admits. */
  versions?: readonly number[] | undefined;
}

/** What the doors ask of users. Reads here, searches in `UserSearch`, every change through `UserWriter`. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly writer: UserWriter,
    private readonly transactions: TransactionRunner,
    private readonly passwords: PasswordService,
    private readonly ownPassword: OwnPassword,
    private readonly idempotency: IdempotencyService,
    private readonly settings: UserSettings,
  ) {}

  async find(uuid: string): Promise<User | undefined> {
    return this.repository.find(uuid);
  }

  async findCredentials(name: string): Promise<Credentials | undefined> {
    return this.repository.findCredentials(name);
  }

  /** As `findCredentials`, by uuid, and unchanged until the transaction ends. */
  async lockCredentials(tx: Sql, uuid: string): Promise<Credentials | undefined> {
    return this.repository.lockCredentials(tx, uuid);
  }

  /** A user as the caller may know of it: nobody but Webmasters and the user itself meets a blocked one. */
  async get(uuid: string, caller: Caller): Promise<User> {
    const user = await this.repository.find(uuid);
    const visible =
      user && (user.status === 'Active' || isWebmaster(caller.actor) || isSelf(caller.actor, uuid));
    if (!visible) throw new ProblemError('not_found', `There is no user ${uuid}.`);
    return user;
  }

  /**
   * @param idempotencyKey a retry with the same key and body gives the first answer again.
   * @returns the uuid of the new user.
   */
  async create(body: JsonObject, caller: Caller, idempotencyKey?: string): Promise<string> {
    const request = this.idempotency.identify(idempotencyKey, body, caller.actor);
    const { value, errors } = readInput(NewUserInput, body);
    this.assertValid(value, [...errors, ...settle(value, errors, this.settings)], newUser('', now()));
    const patch = await this.toPatch(value);
    const uuid = uuidv7();
    return this.transactions.run(async (tx) => {
      const earlier = request && (await this.idempotency.claim(tx, request, uuid));
      if (earlier !== undefined) return earlier;
      await this.apply(tx, { kind: 'create', uuid, patch }, caller);
      return uuid;
    });
  }

  /** Changes the fields that were sent; all of them or, when one is bad, none. @returns the user after it. */
  async change(
    uuid: string,
    body: JsonObject,
    caller: Caller,
    conditions: ChangeConditions = {},
  ): Promise<User> {
    const current = await this.get(uuid, caller);
    const own = !isWebmaster(caller.actor);
    const { value, errors } = readInput(ChangedUserInput, body);
    if (own) keepSelfFields(value, presentUser(current, 'self', this.settings.defaultAvatar));
    if (blocksSelf(caller, current, value)) throw toProblem([SELF_BLOCK]);
    errors.push(...mismatch(value.uuid, uuid), ...settle(value, errors, this.settings));
    const provesItself = own && value.password !== undefined;
    if (provesItself && errors.length === 0) {
      errors.push(...(await this.ownPassword.errors(current, value.current_password, caller)));
    }
    this.assertValid(value, errors, current);
    const patch = await this.toPatch(value);
    const ifVersions = conditions.versions;
    return this.transactions.run(async (tx) => {
      if (provesItself) await this.ownPassword.assertStillProven(tx, current);
      return this.apply(tx, { kind: 'update', uuid, patch, ...(ifVersions && { ifVersions }) }, caller);
    });
  }

  async isEmpty(): Promise<boolean> {
    return this.repository.isEmpty();
  }

  /** Marks a user as seen now. @param tx the transaction that this is part of, if any. */
  async touch(uuid: string, tx?: Sql): Promise<void> {
    await this.repository.touch(uuid, now(), tx);
  }

  /** Stores a password's hash anew when it was made with older parameters; the password is known to fit. */
  async refreshHash(uuid: string, stored: string, password: string): Promise<void> {
    if (!this.passwords.isOutdated(stored)) return;
    await this.repository.replaceHash(uuid, stored, await this.passwords.hash(password));
  }

  private assertValid(input: UserInput, errors: FieldError[], current: User): void {
    const all = brokenRules(input, errors, current);
    if (all.length > 0) throw validationFailed(all);
  }

  /** Hashing takes its time, so it is done before the transaction and not in it. */
  private async toPatch(input: UserInput): Promise<UserPatch> {
    const { password, current_password: _, ...fields } = input;
    const { uuid: _uuid, created: _c, updated: _u, last_access: _l, ...patch } = fields as ChangedUserInput;
    if (password === undefined) return patch;
    return { ...patch, password_hash: password === null ? null : await this.passwords.hash(password) };
  }

  private async apply(tx: Sql, change: UserChange, caller: Caller): Promise<User> {
    const [outcome] = await this.writer.apply(tx, [change], caller);
    if (!outcome) throw new Error('a set of one has one outcome');
    if (outcome.outcome === 'error') throw toProblem(outcome.failures);
    return outcome.user;
  }
}

function mismatch(sent: unknown, uuid: string): FieldError[] {
  if (sent === undefined || sent === null || (typeof sent === 'string' && sent.toLowerCase() === uuid))
    return [];
  return [{ field: 'uuid', code: 'uuid_mismatch', message: 'must be the uuid of the path' }];
}
