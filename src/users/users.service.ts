import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Actor, type Caller, isSelf } from '../access/actor.js';
import { assertPasswordReplaced, hasPermission, isWebmaster } from '../access/policy.js';
import { AuditService, type ClientRequest } from '../audit/audit.service.js';
import {
  type Conflict,
  type FieldError,
  ProblemError,
  createUnauthenticatedError,
  createValidationError,
} from '../platform/common/errors.js';
import type { CheckedInput } from '../platform/input/read-input.js';
import { now } from '../platform/common/time.js';
import { findIdMismatch } from '../platform/common/uuid.js';
import type { Versions } from '../platform/http/entity-tags.js';
import { type Login, LoginThrottle } from '../sessions/login-throttle.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { toLoginKey } from './model/comparison-keys.js';
import { NewPasswords } from './passwords/new-passwords.service.js';
import { type Requester, PasswordService, toRequester } from './passwords/password.service.js';
import type { ChangedUserInput, NewUserInput, WritableUserInput } from './rules/user.input.js';
import type { User } from './model/user.js';
import { pickSelfFields, omitReadOnlyFields } from './accepted-fields.js';
import {
  type ValidatedChange,
  isSelfBlock,
  createEmptyUser,
  checkPrivilege,
  toPatch,
  validateChange,
} from './rules/user-rules.js';
import { SELF_BLOCK, createFailure, toFailureProblem } from './rules/failure.js';
import { UserSettings } from './rules/user-settings.js';
import { presentUser } from './user.view.js';
import { type PendingChange, createDeletion } from './writer/change-set.js';
import { UserChangeQueue } from './writer/user-change-queue.service.js';
import { UserRecords } from './search/user-records.service.js';

/** Reads single users for the API, and changes them through `UserChangeQueue`. */
@Injectable()
export class UsersService {
  constructor(
    private readonly records: UserRecords,
    private readonly queue: UserChangeQueue,
    private readonly passwords: PasswordService,
    private readonly throttle: LoginThrottle,
    private readonly audit: AuditService,
    private readonly sessions: SessionsService,
    private readonly newPasswords: NewPasswords,
    private readonly settings: UserSettings,
  ) {}

  /**
   * Returns a user. A blocked user is visible only to Webmasters and to this user.
   * @throws ProblemError `not_found`.
   */
  async get(uuid: string, caller: Caller): Promise<User> {
    return assertVisible(await this.records.find(uuid), uuid, caller);
  }

  /** @returns the uuid of the new user. */
  async create(input: CheckedInput<NewUserInput>, caller: Caller): Promise<string> {
    const change = validateChange<WritableUserInput>(createEmptyUser('', now()), input, this.settings);
    await this.assertValid(undefined, change, caller);
    const patch = toPatch(change.input, await this.newPasswords.hash(change.input, caller));
    const uuid = uuidv7();
    await this.write({ kind: 'create', uuid, buildChange: () => ({ patch }) }, caller);
    return uuid;
  }

  /**
   * Changes the fields in the request, or no field if one field is invalid.
   * @param ifVersions versions that `If-Match` allows.
   * @returns the user after the change.
   */
  async change(
    uuid: string,
    input: CheckedInput<ChangedUserInput>,
    caller: Caller,
    ifVersions: Versions,
  ): Promise<User> {
    assertOnlyPassword(input.value, caller.actor);
    const password =
      input.value.password === undefined ? undefined : await this.preparePassword(uuid, input, caller);
    const buildChange: PendingChange['buildChange'] = (_, found) => {
      const user = assertVisible(found, uuid, caller);
      if (password?.proven && hasLostProof(user, password.proven)) throw createValidationError([WRONG_PROOF]);
      const change = this.validate(user, input, caller);
      assertChangeAllowed(user, change, caller);
      if (change.errors.length > 0) throw createValidationError(change.errors);
      const patch = toPatch(change.input, password?.hash);
      if (password?.hash && !isSelf(caller.actor, uuid))
        patch.password_change_required = input.value.password_change_required === true;
      return { patch, locked: user, ifVersions };
    };
    return this.write({ kind: 'update', uuid, buildChange }, caller);
  }

  /** Deletes a user, who can be restored for a time (ADR 23). @param ifVersions versions that `If-Match` allows. */
  async delete(uuid: string, caller: Caller, ifVersions: Versions): Promise<void> {
    const deletion = createDeletion(uuid, (user) => assertVisible(user, uuid, caller), ifVersions);
    await this.write(deletion, caller);
  }

  /**
   * Sets a random password and ends the sessions of the user.
   * @param mustChange true if the next session must replace the password first.
   * @returns the password. Only its hash is stored.
   */
  async generatePassword(uuid: string, mustChange: boolean, caller: Caller): Promise<string> {
    if (isSelf(caller.actor, uuid)) throw new ProblemError('forbidden', OWN_PASSWORD);
    await this.get(uuid, caller);
    const { password, hash } = await this.newPasswords.generate(caller);
    const patch = { password_hash: hash, password_change_required: mustChange };
    const buildChange: PendingChange['buildChange'] = (_, user) => {
      return { patch, locked: assertVisible(user, uuid, caller) };
    };
    await this.write({ kind: 'update', uuid, buildChange }, caller);
    return password;
  }

  /** Writes a change. If it fails with a conflict, adds the names of the other users for a caller who may read users. */
  async write(change: PendingChange, caller: Caller): Promise<User> {
    return this.queue.write(change, caller).catch(async (error: unknown) => {
      throw error instanceof ProblemError &&
        error.extras.conflicts &&
        hasPermission(caller.actor, 'users.search')
        ? await this.addNames(error, error.extras.conflicts)
        : error;
    });
  }

  private async addNames(error: ProblemError, conflicts: readonly Conflict[]): Promise<ProblemError> {
    const named = conflicts.map(async (conflict) => {
      const user = await this.records.find(conflict.uuid);
      const name = [user?.firstname, user?.surname].filter(Boolean).join(' ');
      return user ? { ...conflict, username: user.username, name } : conflict;
    });
    return new ProblemError(error.code, error.detail, { conflicts: await Promise.all(named) });
  }

  /**
   * Validates a change with a new password, and hashes the password. Runs before the transaction, because hashing is
   * slow.
   */
  private async preparePassword(
    uuid: string,
    input: CheckedInput<ChangedUserInput>,
    caller: Caller,
  ): Promise<{ hash: string | null | undefined; proven: User | undefined }> {
    const user = await this.get(uuid, caller);
    const change = this.validate(user, input, caller);
    await this.assertValid(user, change, caller);
    const hash = await this.newPasswords.hash(change.input, caller);
    return { hash, proven: isSelf(caller.actor, uuid) ? user : undefined };
  }

  /** Validates a change of a user. Users who are not Webmasters can change only parts of their own profile. */
  private validate(
    user: User,
    { value, errors }: CheckedInput<ChangedUserInput>,
    caller: Caller,
  ): ValidatedChange<WritableUserInput> {
    const writable = omitReadOnlyFields(value);
    const sent = isWebmaster(caller.actor)
      ? writable
      : pickSelfFields(writable, presentUser(user, 'self', this.settings.defaultAvatar));
    const fieldErrors = [...errors, ...findIdMismatch('uuid', value.uuid, user.uuid)];
    const isOwnPassword = isSelf(caller.actor, user.uuid) && sent.password !== undefined;
    const isUnexpected = (sent.current_password ?? null) !== null && !isOwnPassword;
    if (isUnexpected && !fieldErrors.some(({ field }) => field === UNEXPECTED_PROOF.field))
      fieldErrors.push(UNEXPECTED_PROOF);
    return validateChange(user, { value: sent, errors: fieldErrors }, this.settings);
  }

  /** @throws ProblemError `self_block`, `insufficient_scope` or `validation_failed` with all errors, in this order. */
  private async assertValid(
    before: User | undefined,
    change: ValidatedChange<WritableUserInput>,
    caller: Caller,
  ): Promise<void> {
    assertChangeAllowed(before, change, caller);
    const errors = [...change.errors, ...(await this.newPasswords.validate(change))];
    if (errors.length === 0 && before)
      errors.push(...(await this.validateProof(before, change.input, caller)));
    if (errors.length > 0) throw createValidationError(errors);
  }

  /**
   * Validates `current_password` when users change their own password, so that a stolen session cannot take over an
   * account. A wrong password counts as a failed login.
   * @throws ProblemError `login_throttled`.
   */
  private async validateProof(
    user: User,
    { password, current_password }: WritableUserInput,
    caller: Caller,
  ): Promise<FieldError[]> {
    if (password === undefined || !isSelf(caller.actor, user.uuid)) return [];
    if (current_password === undefined || current_password === null) return [MISSING_PROOF];
    if (user.password_change_required && (password === null || password === current_password))
      return [NOT_REPLACED];
    return (await this.verifyOwn(user, current_password, caller)) ? [] : [WRONG_PROOF];
  }

  /**
   * Confirms the session of the caller with the user's password. Has the same limits as a login.
   * @param deviceTokens tokens of the device cookie.
   * @throws ProblemError `unauthenticated` for an API key, `login_failed`, `login_throttled`.
   */
  async confirmSession(password: string, caller: Caller, deviceTokens: readonly string[]): Promise<void> {
    const { actor } = caller;
    if (actor.kind !== 'user') throw createUnauthenticatedError('An API key has no session to confirm.');
    const user = await this.get(actor.id, caller);
    const device = await this.throttle.findDevice(user.uuid, deviceTokens);
    if (!(await this.verifyOwn(user, password, caller, device)))
      throw new ProblemError('login_failed', 'The password is wrong.');
    await this.sessions.confirm(actor.sessionId, caller);
  }

  private async verifyOwn(user: User, password: string, caller: Caller, device?: string): Promise<boolean> {
    const { uuid, username: entered, password_hash: stored } = user;
    const login = { entered, name: toLoginKey(entered), uuid, ip: caller.ip, device };
    return this.verifyPassword(login, stored, password, toRequester(caller), caller);
  }

  /**
   * Verifies a password that a user has entered. A wrong password counts as a failed login and is recorded in the audit.
   * The throttle is checked again right before the password is hashed.
   * @param stored hash of the user's password. Null never matches, but the check takes equally long.
   * @throws ProblemError `login_throttled`, `unavailable`.
   */
  async verifyPassword(
    login: Login,
    stored: string | null,
    password: string,
    requester: Requester,
    request: ClientRequest,
  ): Promise<boolean> {
    await this.throttle.delayOrReject(login, requester.signal);
    const before = () => this.throttle.mustDelay(login);
    const hooks = { before, failed: () => this.throttle.countFailure(login) };
    const matches = await this.passwords.verify(stored, password, requester, hooks);
    const name = login.entered === password ? '' : login.entered;
    if (matches) await this.throttle.recordSuccess(login);
    else await this.audit.recordFailedLogin({ name, key: login.name, user: login.uuid }, request);
    return matches;
  }

  /** Hashes a verified password again if the stored hash has outdated parameters. */
  async rehashIfOutdated(
    uuid: string,
    stored: string,
    password: string,
    requester: Requester,
  ): Promise<void> {
    if (!this.passwords.isOutdated(stored)) return;
    await this.records.replacePasswordHash(uuid, stored, await this.passwords.hash(password, requester));
  }
}

const MISSING_PROOF = createFailure('current_password', 'required', 'is required to change the password');
const NOT_REPLACED = createFailure('password', 'invalid_value', 'must differ from the current password');
const WRONG_PROOF = createFailure('current_password', 'invalid_value', 'is not the current password');
const UNEXPECTED_PROOF: FieldError = {
  field: 'current_password',
  code: 'invalid_value',
  message: 'is accepted only when users change their own password',
};

const OWN_PASSWORD = 'Change your own password with `PUT /users/{user_id}` and your current password.';
const PASSWORD_FIELDS = ['password', 'current_password'];

/** @throws ProblemError `password_change_required` if a session that must replace its password changes other fields. */
function assertOnlyPassword(sent: object, actor: Actor): void {
  const isOther = ([field, value]: [string, unknown]): boolean =>
    value !== undefined && !PASSWORD_FIELDS.includes(field);
  if (Object.entries(sent).some(isOther)) assertPasswordReplaced(actor);
}

/** Returns true if the user was blocked or got a new password after the check of the current password. */
const hasLostProof = (user: User, proven: User): boolean =>
  user.status !== 'Active' || user.password_hash !== proven.password_hash;

/** @throws ProblemError `not_found` if the user is missing, or hidden from the caller. */
function assertVisible(user: User | undefined, uuid: string, { actor }: Caller): User {
  if (user && (user.status === 'Active' || isWebmaster(actor) || isSelf(actor, uuid))) return user;
  throw new ProblemError('not_found', `There is no user ${uuid}.`);
}

/**
 * Checks two rules of the user writer early, so that their errors come before field errors.
 * @throws ProblemError `self_block`, `insufficient_scope`.
 */
function assertChangeAllowed(
  before: User | undefined,
  { input, after }: ValidatedChange<WritableUserInput>,
  caller: Caller,
): void {
  if (isSelfBlock(caller, before, input)) throw toFailureProblem([SELF_BLOCK]);
  const missing = checkPrivilege(caller.actor, before, after);
  if (missing) throw toFailureProblem([missing]);
}
