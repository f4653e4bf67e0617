import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { type FieldError, ProblemError } from '../../common/errors.js';
import { normalForm } from '../../common/text.js';
import { now } from '../../common/time.js';
import { isUuid } from '../../common/uuid.js';
import type { Sql } from '../../database/engine/sql.js';
import { TransactionRunner } from '../../database/transaction-runner.js';
import type { UserChange } from '../../users/change/change-set.js';
import { toProblem } from '../../users/change/failure.js';
import { UserWriter } from '../../users/change/user-writer.service.js';
import { readInput } from '../../input/read-input.js';
import { type UserPatch, newUser } from '../../users/input/user-rules.js';
import { UserInput } from '../../users/input/user.input.js';
import { UserSettings } from '../../users/input/user-settings.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import { askerOf } from '../../users/passwords/asker.js';
import { NewPasswords } from '../../users/passwords/new-passwords.service.js';
import { PasswordService } from '../../users/passwords/password.service.js';
import { UsersService } from '../../users/users.service.js';
import { Resources } from '../discovery/resources.js';
import { Deviations, profileOf } from '../http/deviations.js';
import { quoted } from '../protocol/errors.js';
import { readResource } from '../protocol/input.js';
import { readPatch } from '../protocol/patch-steps.js';
import { type Edit, assertNone, editOf, readEdit, toPatch } from './user-edit.js';
import { scimNameOf, toFields, toResource } from './user.mapping.js';
import { type Wanted, created, patchedBy, replaced } from './user-requests.js';
import { isHidden } from './visibility.js';

/** How one kind of request changes a user. */
interface Change {
  /** The user as the request wants it. */
  want: (current: User) => Wanted;
  /** What in the request suits no attribute. */
  wrong: readonly FieldError[];
  /** Whether it says anything of the password, which is hashed before the transaction. */
  touchesPassword: boolean;
}

/** Users for identity providers: every change goes through `UserWriter`, by the rules of the API. */
@Injectable()
export class ScimUsers {
  constructor(
    private readonly users: UsersService,
    private readonly writer: UserWriter,
    private readonly transactions: TransactionRunner,
    private readonly passwords: PasswordService,
    private readonly newPasswords: NewPasswords,
    private readonly settings: UserSettings,
    private readonly fuse: KeyFuse,
    private readonly resources: Resources,
    private readonly deviations: Deviations,
  ) {}

  /** @throws ProblemError `not_found`, also for an id that is none and for a user whom the key must not know of. */
  async get(id: string, caller: Caller): Promise<User> {
    const user = isUuid(id) ? await this.users.find(id.toLowerCase()) : undefined;
    return visible(user, id, caller);
  }

  async create(body: unknown, caller: Caller): Promise<User> {
    const read = readResource(body, this.resources.user, this.deviations.of(caller.actor));
    const nobody = newUser('', now());
    const { resource, password } = created(read, profileOf(caller.actor));
    const edit = editOf(toFields({}), toFields(resource));
    // A new user is read as a whole: what is missing is told by its name.
    const sent = Object.fromEntries(Object.entries(edit.input).filter(([, value]) => value !== null));
    const { patch, errors } = readEdit({ ...edit, input: sent }, nobody, true, read.errors, this.settings);
    if (typeof password === 'string')
      errors.push(...(await this.passwordErrors(password, patch, nobody, errors)));
    assertNone(errors);
    const password_hash = await this.hashOf(password, caller);
    const uuid = uuidv7();
    return this.transactions.run(async (tx) => {
      const whole = {
        ...(await this.whole(tx, { patch, edit, password_hash })),
        managed_by: MANAGED_BY_SCIM,
      };
      return this.apply(tx, { kind: 'create', uuid, patch: whole }, caller);
    }, caller);
  }

  /** @returns the user afterwards. */
  async replace(id: string, body: unknown, caller: Caller, ifVersions?: readonly number[]): Promise<User> {
    const read = readResource(body, this.resources.user, this.deviations.of(caller.actor));
    const profile = profileOf(caller.actor);
    const want = (user: User): Wanted => replaced(toResource(user, ''), read, this.resources.user, profile);
    const wrong = [...read.errors, ...mismatch(read.id, id)];
    const touchesPassword = 'password' in read.resource || read.unassigned.has('password');
    return this.change(id, { want, wrong, touchesPassword }, caller, ifVersions);
  }

  /** @returns the user afterwards. */
  async patch(id: string, body: unknown, caller: Caller, ifVersions?: readonly number[]): Promise<User> {
    const profile = profileOf(caller.actor);
    const options = {
      resource: this.resources.user,
      ignoreUnknown: profile === 'entra',
      deviation: this.deviations.of(caller.actor),
    };
    const steps = readPatch(body, options);
    const want = (user: User): Wanted => patchedBy(toResource(user, ''), steps, options, profile);
    const touchesPassword = steps.some(({ target }) => target.attribute.name === 'password');
    return this.change(id, { want, wrong: [], touchesPassword }, caller, ifVersions);
  }

  async delete(id: string, caller: Caller, ifVersions?: readonly number[]): Promise<void> {
    const { uuid } = await this.get(id, caller);
    const change: UserChange = { kind: 'delete', uuid, patch: {}, ...(ifVersions && { ifVersions }) };
    const work = (tx: Sql) => this.apply(tx, change, caller).then(() => undefined);
    await this.fuse.watched(caller, () => this.transactions.run(work, caller));
  }

  /** Reads the user in the transaction that writes it, so that of two changes at once both stay. */
  private async change(
    id: string,
    change: Change,
    caller: Caller,
    ifVersions: readonly number[] | undefined,
  ): Promise<User> {
    if (!isUuid(id)) throw notFound(id);
    const uuid = id.toLowerCase();
    const password_hash = change.touchesPassword ? await this.newHash(uuid, change, caller) : undefined;
    const write = async (tx: Sql): Promise<User> => {
      const user = visible(await this.users.lock(tx, uuid), id, caller);
      const { edit, patch, errors } = this.judged(user, change);
      assertNone(errors);
      const whole = await this.whole(tx, { patch, edit, password_hash });
      const managed = user.managed_by === null && Object.keys(whole).length > 0;
      if (managed) whole.managed_by = MANAGED_BY_SCIM;
      const update = { kind: 'update', uuid, patch: whole, byProvider: true } as const;
      return this.apply(tx, { ...update, ...(ifVersions && { ifVersions }) }, caller);
    };
    return this.fuse.watched(caller, () => this.transactions.run(write, caller));
  }

  private judged(user: User, { want, wrong }: Change) {
    const { resource, password } = want(user);
    const edit = editOf(toFields(toResource(user, '')), toFields(resource));
    return { edit, password, ...readEdit(edit, user, false, wrong, this.settings) };
  }

  /** Checks all of a change whose password must be hashed, which takes long. undefined: the password stays. */
  private async newHash(uuid: string, change: Change, caller: Caller): Promise<string | null | undefined> {
    const user = await this.get(uuid, caller);
    const { password, patch, errors } = this.judged(user, change);
    if (typeof password === 'string')
      errors.push(...(await this.passwordErrors(password, patch, user, errors)));
    assertNone(errors);
    return this.hashOf(password, caller);
  }

  private async hashOf(
    password: string | null | undefined,
    caller: Caller,
  ): Promise<string | null | undefined> {
    return typeof password === 'string'
      ? this.passwords.hash(normalForm(password, 'NFC'), askerOf(caller))
      : password;
  }

  private async passwordErrors(
    password: string,
    { username, email }: UserInput,
    current: User,
    broken: readonly FieldError[],
  ): Promise<FieldError[]> {
    const { value, errors } = readInput(UserInput, { password });
    if (errors.length > 0 || !value.password) return errors;
    const good = (field: string, sent: string | null | undefined): string | undefined =>
      broken.some((error) => error.field === scimNameOf(field)) ? undefined : (sent ?? undefined);
    return this.newPasswords.errors(value.password, {
      username: good('username', username) ?? current.username,
      email: good('email', email) ?? current.email,
    });
  }

  /** The patch for the writer. A manager is a user, or else a text that is kept. */
  private async whole(
    tx: Sql,
    {
      patch,
      edit: { attributes, manager },
      password_hash,
    }: { patch: UserInput; edit: Edit; password_hash: string | null | undefined },
  ): Promise<UserPatch> {
    const set = password_hash === undefined ? {} : { password_hash };
    if (manager === undefined) return { ...toPatch(patch, attributes), ...set };
    const known =
      manager !== null && isUuid(manager) ? await this.users.find(manager.toLowerCase(), tx) : undefined;
    const kept = { ...attributes, manager: known ? null : manager };
    return { ...toPatch(patch, kept), ...set, manager_uuid: known?.uuid ?? null };
  }

  private async apply(tx: Sql, change: UserChange, caller: Caller): Promise<User> {
    const [outcome] = await this.writer.apply(tx, [change], caller);
    if (!outcome) throw new Error('a set of one has one outcome');
    if (outcome.outcome !== 'error') return outcome.user;
    throw toProblem(outcome.failures.map((failure) => ({ ...failure, field: scimNameOf(failure.field) })));
  }
}

const notFound = (id: string): ProblemError =>
  new ProblemError('not_found', `There is no user ${quoted(id)}.`);

/** @throws ProblemError `not_found` */
function visible(user: User | undefined, id: string, { actor }: Caller): User {
  if (!user || isHidden(user, actor)) throw notFound(id);
  return user;
}

/** The id in a body must be that of the path. */
function mismatch(sent: string | undefined, id: string): FieldError[] {
  const isSame = sent === undefined || sent === '' || sent.toLowerCase() === id.toLowerCase();
  return isSame ? [] : [{ field: 'id', code: 'uuid_mismatch', message: 'must be the id of the path' }];
}
