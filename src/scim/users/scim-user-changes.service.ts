import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../access/actor.js';
import { type FieldError, validationFailed } from '../../platform/common/errors.js';
import { now } from '../../platform/common/time.js';
import { idMismatch, isUuid } from '../../platform/common/uuid.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { UserChange } from '../../users/writer/change-set.js';
import { UserChanges, toPatch } from '../../users/user-changes.service.js';
import { type UserPatch, type ValidatedChange, newUser } from '../../users/rules/user-rules.js';
import type { UserInput } from '../../users/rules/user.input.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import { UsersService } from '../../users/users.service.js';
import { Resources } from '../discovery/resources.js';
import { Deviations, isHidden, rulesOf } from '../http/key-rules.js';
import { notFound } from '../protocol/errors.js';
import { readResource } from '../protocol/input.js';
import type { ScimObject } from '../protocol/attribute.js';
import { readPatch } from '../protocol/patch.js';
import { toResource } from './user.mapping.js';
import { type Edit, type Wanted, created, editOf, patchedBy, replaced, validateEdit } from './user-edit.js';

/** How one kind of request changes a user. */
interface Change {
  /** The user as the request wants it. */
  want: (current: ScimObject) => Wanted;
  /** What in the request suits no attribute. */
  wrong: readonly FieldError[];
  /** Whether it says anything of the password, which is hashed before the transaction. */
  touchesPassword: boolean;
}

/** A change that waits for its transaction, which may make changes of other users too. */
export interface WaitingChange {
  kind: 'create' | 'update' | 'delete';
  uuid: string;
  /**
   * @param user locked; undefined for a new one. @param coming users whom the same set of changes creates.
   * @throws ProblemError `not_found`, `validation_failed`, and what a PATCH throws.
   */
  complete: (tx: Sql, user: User | undefined, coming?: ReadonlySet<string>) => Promise<UserChange>;
}

/** Reads what identity providers send as changes of users, by the rules of the API. Passwords are hashed by then. */
@Injectable()
export class ScimUserChanges {
  constructor(
    private readonly users: UsersService,
    private readonly changes: UserChanges,
    private readonly resources: Resources,
    private readonly deviations: Deviations,
  ) {}

  /** @param uuid what the new user gets. @throws ProblemError `validation_failed`. */
  async create(body: unknown, caller: Caller, uuid = uuidv7()): Promise<WaitingChange> {
    const read = readResource(body, this.resources.user, this.deviations.of(caller.actor));
    const nobody = newUser('', now());
    const edit = editOf({}, created(read, rulesOf(caller.actor)));
    // A new user is read as a whole, so that the error of a missing field names it.
    const sent = Object.fromEntries(Object.entries(edit.input).filter(([, value]) => value !== null));
    const change = validateEdit({ ...edit, input: sent }, nobody, true, read.errors, this.changes);
    const password_hash = await this.newHash(change, caller);
    const complete: WaitingChange['complete'] = async (tx, _, coming) => {
      const whole = {
        ...(await this.patchOf(tx, change.input, edit, password_hash, coming)),
        managed_by: MANAGED_BY_SCIM,
      };
      return { kind: 'create', uuid, patch: whole };
    };
    return { kind: 'create', uuid, complete };
  }

  /** @throws ProblemError for a request that no user suits. */
  async replace(
    id: string,
    body: unknown,
    caller: Caller,
    ifVersions?: readonly number[],
  ): Promise<WaitingChange> {
    const read = readResource(body, this.resources.user, this.deviations.of(caller.actor));
    const rules = rulesOf(caller.actor);
    const want = (current: ScimObject): Wanted => replaced(current, read, this.resources.user, rules);
    const wrong = [...read.errors, ...idMismatch('id', read.id || undefined, id)];
    const touchesPassword = 'password' in read.resource || read.unassigned.has('password');
    return this.prepareChange(id, { want, wrong, touchesPassword }, caller, ifVersions);
  }

  /** @throws ProblemError for a request that no user suits. */
  async patch(
    id: string,
    body: unknown,
    caller: Caller,
    ifVersions?: readonly number[],
  ): Promise<WaitingChange> {
    const rules = rulesOf(caller.actor);
    const options = {
      resource: this.resources.user,
      ignoreUnknown: rules.ignoresUnknown,
      deviation: this.deviations.of(caller.actor),
    };
    const steps = readPatch(body, options);
    const want = (current: ScimObject): Wanted => patchedBy(current, steps, options, rules);
    const touchesPassword = steps.some(({ target }) => target.attribute.name === 'password');
    return this.prepareChange(id, { want, wrong: [], touchesPassword }, caller, ifVersions);
  }

  /** @throws ProblemError `not_found` for an id that is none. */
  delete(id: string, caller: Caller, ifVersions?: readonly number[]): WaitingChange {
    const uuid = this.resources.user.uuidOf(id);
    const complete: WaitingChange['complete'] = (_, user) => {
      const locked = visible(user, id, caller);
      return Promise.resolve({ kind: 'delete', uuid, patch: {}, locked, ...(ifVersions && { ifVersions }) });
    };
    return { kind: 'delete', uuid, complete };
  }

  /** What a request changes is decided in the transaction that writes it, so that of two changes at once both stay. */
  private async prepareChange(
    id: string,
    change: Change,
    caller: Caller,
    ifVersions: readonly number[] | undefined,
  ): Promise<WaitingChange> {
    const uuid = this.resources.user.uuidOf(id);
    const password_hash = change.touchesPassword
      ? await this.newHash(this.validate(visible(await this.users.find(uuid), uuid, caller), change), caller)
      : undefined;
    const complete: WaitingChange['complete'] = async (tx, found, coming) => {
      const user = visible(found, id, caller);
      const { edit, input, errors } = this.validate(user, change);
      if (errors.length > 0) throw validationFailed(errors);
      const whole = await this.patchOf(tx, input, edit, password_hash, coming);
      const managed = user.managed_by === null && Object.keys(whole).length > 0;
      if (managed) whole.managed_by = MANAGED_BY_SCIM;
      const update = { kind: 'update', uuid, patch: whole, locked: user, byProvider: true } as const;
      return { ...update, ...(ifVersions && { ifVersions }) };
    };
    return { kind: 'update', uuid, complete };
  }

  private validate(user: User, { want, wrong }: Change): ValidatedChange<UserInput> & { edit: Edit } {
    const current = toResource(user, '');
    const edit = editOf(current, want(current));
    return { edit, ...validateEdit(edit, user, false, wrong, this.changes) };
  }

  /** Validates all of a change and hashes its password, which takes long. @returns undefined where the password stays. */
  private async newHash(
    change: ValidatedChange<UserInput>,
    caller: Caller,
  ): Promise<string | null | undefined> {
    const errors = [...change.errors, ...(await this.changes.validatePassword(change))];
    if (errors.length > 0) throw validationFailed(errors);
    return this.changes.hashPassword(change.input, caller);
  }

  /** Returns the patch for the writer. A manager is a user, or else a text that is kept. */
  private async patchOf(
    tx: Sql,
    input: UserInput,
    { attributes, manager }: Edit,
    password_hash: string | null | undefined,
    coming?: ReadonlySet<string>,
  ): Promise<UserPatch> {
    const patch = toPatch(input, password_hash);
    if (manager === undefined) return withAttributes(patch, attributes);
    const uuid = manager !== null && isUuid(manager) ? manager.toLowerCase() : undefined;
    const isKnown = uuid !== undefined && (coming?.has(uuid) === true || (await this.users.find(uuid, tx)));
    const kept = { ...attributes, manager: isKnown ? null : manager };
    return { ...withAttributes(patch, kept), manager_uuid: isKnown ? uuid : null };
  }
}

const withAttributes = (patch: UserPatch, attributes: Edit['attributes']): UserPatch =>
  Object.keys(attributes).length === 0 ? patch : { ...patch, attributes };

/** @throws ProblemError `not_found` */
export function visible(user: User | undefined, id: string, { actor }: Caller): User {
  if (!user || isHidden(user, actor)) throw notFound('User', id);
  return user;
}
