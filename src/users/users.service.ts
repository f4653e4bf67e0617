import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, isSelf } from '../access/actor.js';
import { isWebmaster } from '../access/policy.js';
import { KeyFuse } from '../api-keys/fuse/key-fuse.service.js';
import { type FieldError, ProblemError, validationFailed } from '../platform/common/errors.js';
import type { Checked } from '../platform/input/read-input.js';
import { now } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { OwnPassword } from './passwords/own-password.service.js';
import { askerOf } from './passwords/asker.js';
import type { Asker } from './passwords/fair-queue.js';
import { NewPasswords } from './passwords/new-passwords.service.js';
import { PasswordService } from './passwords/password.service.js';
import type { ChangedUserInput, NewUserInput } from './rules/user.input.js';
import type { User } from './model/user.js';
import { keepSelfFields } from './self-fields.js';
import { type UserPatch, brokenRules, judged, newErrors, newUser, settle } from './rules/user-rules.js';
import { SELF_BLOCK, toProblem } from './set-rules/failure.js';
import { privilegeFailure } from './writer/privilege.js';
import type { UserChange } from './writer/change-set.js';
import { UserSettings } from './rules/user-settings.js';
import { presentUser } from './user.view.js';
import { blocksSelf } from './writer/privilege.js';
import { UserWriter } from './writer/user-writer.service.js';
import { type Credentials, UsersRepository } from './search/users.repository.js';

export type { Credentials };

/** Single users for the API: reads here, searches in `UserSearch`, every change through `UserWriter`. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly writer: UserWriter,
    private readonly transactions: TransactionRunner,
    private readonly passwords: PasswordService,
    private readonly ownPassword: OwnPassword,
    private readonly newPasswords: NewPasswords,
    private readonly settings: UserSettings,
    private readonly fuse: KeyFuse,
  ) {}

  /** @param sql the transaction that this is part of, if any. */
  async find(uuid: string, sql?: Sql): Promise<User | undefined> {
    return this.repository.find(uuid, sql);
  }

  /** As `find`; nobody else changes the user until the transaction ends. */
  async lock(tx: Sql, uuid: string): Promise<User | undefined> {
    return this.repository.lock(tx, uuid);
  }

  async findCredentials(name: string): Promise<Credentials | undefined> {
    return this.repository.findCredentials(name);
  }

  /** As `findCredentials`, by uuid, and unchanged until the transaction ends. */
  async lockCredentials(tx: Sql, uuid: string): Promise<Credentials | undefined> {
    return this.repository.lockCredentials(tx, uuid);
  }

  /** @throws ProblemError `not_found`; a blocked user exists for Webmasters and for itself only. */
  async get(uuid: string, caller: Caller): Promise<User> {
    const user = await this.repository.find(uuid);
    const visible =
      user && (user.status === 'Active' || isWebmaster(caller.actor) || isSelf(caller.actor, uuid));
    if (!visible) throw new ProblemError('not_found', `There is no user ${uuid}.`);
    return user;
  }

  /** @returns the uuid of the new user. */
  async create({ value, errors }: Checked<NewUserInput>, caller: Caller): Promise<string> {
    const broken = [...errors, ...settle(value, errors, this.settings)];
    const nobody = newUser('', now());
    assertPrivilege(caller, undefined, judged(value, broken, nobody).after);
    broken.push(...(await this.passwordErrors(value, broken, nobody)));
    assertFields(value, broken, nobody);
    const patch = await this.toPatch(value, caller);
    const uuid = uuidv7();
    return this.transactions.run(async (tx) => {
      await this.apply(tx, { kind: 'create', uuid, patch }, caller);
      return uuid;
    }, caller);
  }

  /**
   * Changes the fields that were sent; all of them or, when one is bad, none.
   * @param ifVersions the versions that `If-Match` admits.
   * @returns the user after the change.
   */
  async change(
    uuid: string,
    input: Checked<ChangedUserInput>,
    caller: Caller,
    ifVersions?: readonly number[],
  ): Promise<User> {
    let proven: User | undefined;
    withoutReadOnly(input.value);
    if (isWebmaster(caller.actor)) await this.assertGood(uuid, input, caller);
    else proven = await this.assertOwn(uuid, input, caller);
    const patch = await this.toPatch(input.value, caller);
    const change: UserChange = { kind: 'update', uuid, patch, ...(ifVersions && { ifVersions }) };
    const write = async (tx: Sql): Promise<User> => {
      if (proven) await this.ownPassword.assertStillProven(tx, proven);
      return this.apply(tx, change, caller);
    };
    return this.fuse.watched(caller, () => this.transactions.run(write, caller));
  }

  /**
   * Checks what a Webmaster sends. Most requests are good and need no user for that: the writer reads it, and says whether
   * there is one. @throws ProblemError `not_found`, `self_block`, `insufficient_scope`, `validation_failed`, in this order.
   */
  private async assertGood(
    uuid: string,
    { value, errors }: Checked<ChangedUserInput>,
    caller: Caller,
  ): Promise<void> {
    errors.push(...mismatch(value.uuid, uuid), ...settle(value, errors, this.settings));
    if (errors.length === 0 && !value.password && !value.current_password) return;
    const current = await this.get(uuid, caller);
    if (blocksSelf(caller, current, value)) throw toProblem([SELF_BLOCK]);
    assertPrivilege(caller, current, judged(value, errors, current).after);
    errors.push(...(await this.passwordErrors(value, errors, current)));
    errors.push(...(await this.proofErrors(value, errors, current, caller)));
    assertFields(value, errors, current);
  }

  /** Checks what users send about themselves. @returns the user, if the current password had to be proven. */
  private async assertOwn(
    uuid: string,
    { value, errors }: Checked<ChangedUserInput>,
    caller: Caller,
  ): Promise<User | undefined> {
    const current = await this.get(uuid, caller);
    keepSelfFields(value, presentUser(current, 'self', this.settings.defaultAvatar));
    errors.push(...mismatch(value.uuid, uuid), ...settle(value, errors, this.settings));
    errors.push(...(await this.passwordErrors(value, errors, current)));
    errors.push(...(await this.proofErrors(value, errors, current, caller)));
    assertFields(value, errors, current);
    return value.password === undefined ? undefined : current;
  }

  async isEmpty(): Promise<boolean> {
    return this.repository.isEmpty();
  }

  /** Marks a user as seen now. @param tx the transaction that this is part of, if any. */
  async touch(uuid: string, tx?: Sql): Promise<void> {
    await this.repository.touch(uuid, now(), tx);
  }

  /** Stores a password's hash anew when it was made with older parameters; the password is known to fit. */
  async refreshHash(uuid: string, stored: string, password: string, asker: Asker): Promise<void> {
    if (!this.passwords.isOutdated(stored)) return;
    await this.repository.replaceHash(uuid, stored, await this.passwords.hash(password, asker));
  }

  /** The broken rule of a new password, for the user as it would be. */
  private async passwordErrors(
    { username, email, password }: ChangedUserInput,
    broken: readonly FieldError[],
    current: User,
  ): Promise<FieldError[]> {
    if (!password || broken.some(({ field }) => field === 'password')) return [];
    const good = (field: string, sent: string | null | undefined): string | undefined =>
      broken.some((error) => error.field === field) ? undefined : (sent ?? undefined);
    return this.newPasswords.errors(password, {
      username: good('username', username) ?? current.username,
      email: good('email', email) ?? current.email,
    });
  }

  /** A current password is proven where it is needed, checked where it is sent for the same, and otherwise refused. */
  private async proofErrors(
    { current_password, ...value }: ChangedUserInput,
    broken: readonly FieldError[],
    current: User,
    caller: Caller,
  ): Promise<FieldError[]> {
    const isSent = current_password !== undefined && current_password !== null;
    const isOwn = isSelf(caller.actor, current.uuid) && value.password !== undefined;
    const isBroken = broken.some(({ field }) => field === NOT_NEEDED.field);
    if (!isOwn) return isSent && !isBroken ? [NOT_NEEDED] : [];
    const isNeeded = isSent || !isWebmaster(caller.actor);
    if (!isNeeded || newErrors(value, broken, current).length > 0) return [];
    return this.ownPassword.errors(current, current_password, caller);
  }

  /** Hashing is slow, so it is done before the transaction and not in it. */
  private async toPatch(input: ChangedUserInput, caller: Caller): Promise<UserPatch> {
    const { password, current_password: _, uuid: _uuid, created: _c, updated: _u, ...fields } = input;
    const { last_access: _l, attributes: _a, group_roles: _g, ...patch } = fields;
    if (password === undefined) return patch;
    const password_hash = password === null ? null : await this.passwords.hash(password, askerOf(caller));
    return { ...patch, password_hash };
  }

  private async apply(tx: Sql, change: UserChange, caller: Caller): Promise<User> {
    const [outcome] = await this.writer.apply(tx, [change], caller);
    if (!outcome) throw new Error('a set of one has one outcome');
    if (outcome.outcome === 'error') throw toProblem(outcome.failures);
    return outcome.user;
  }
}

const NOT_NEEDED: FieldError = {
  field: 'current_password',
  code: 'invalid_value',
  message: "is only for a change of one's own password",
};

/**
 * Reports all errors of the fields at once, with those of the user as a whole. Where no field is wrong, the writer checks
 * the whole, on the locked row.
 * @throws ProblemError `validation_failed`.
 */
function assertFields(input: ChangedUserInput, errors: readonly FieldError[], current: User): void {
  if (newErrors(input, errors, current).length > 0)
    throw validationFailed(brokenRules(input, errors, current));
}

/** The writer judges it too, on the locked row; here it comes before the errors of fields. @throws `insufficient_scope`. */
function assertPrivilege({ actor }: Caller, before: User | undefined, after: User): void {
  const refused = privilegeFailure(actor, before, after);
  if (refused) throw toProblem([refused]);
}

/** What a client sends back as it was read, and nobody writes here. */
function withoutReadOnly(input: ChangedUserInput): void {
  delete input.attributes;
  delete input.group_roles;
}

function mismatch(sent: unknown, uuid: string): FieldError[] {
  if (sent === undefined || sent === null || (typeof sent === 'string' && sent.toLowerCase() === uuid))
    return [];
  return [{ field: 'uuid', code: 'uuid_mismatch', message: 'must be the uuid of the path' }];
}
