import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Actor, Caller } from '../../access/actor.js';
import { type FieldError, ProblemError, createValidationError } from '../../platform/common/errors.js';
import { now } from '../../platform/common/time.js';
import type { Versions } from '../../platform/http/entity-tags.js';
import { findIdMismatch, isUuid } from '../../platform/common/uuid.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { readInput } from '../../platform/input/read-input.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import { type PendingChange, createDeletion } from '../../users/writer/change-set.js';
import { NewPasswords } from '../../users/passwords/new-passwords.service.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import {
  type UserPatch,
  type ValidatedChange,
  createEmptyUser,
  toPatch,
  validateChange,
} from '../../users/rules/user-rules.js';
import { NewUserInput, UserInput } from '../../users/rules/user.input.js';
import { MANAGED_BY_SCIM, isEmailAddress } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import { UserRecords } from '../../users/search/user-records.service.js';
import { Resources } from '../discovery/resources.js';
import { type ProfileRules, createDeviationCounter, isHidden, rulesOf } from '../http/profile-rules.js';
import {
  type Attribute,
  type ResourceDescription,
  type ScimObject,
  type ScimValue,
  getMember,
  isScimObject,
  objectsOf,
  omitMember,
  buildResource,
} from '../protocol/attribute.js';
import { createNotFoundError } from '../protocol/errors.js';
import { type ReadResource, readResource } from '../protocol/input.js';
import { applySteps, assertRequiredKept, readPatch } from '../protocol/patch.js';
import { type Edit, computeEdit, scimNameOf, toResource } from './user.mapping.js';

interface Change {
  apply: (current: ScimObject) => ScimObject;
  wrong: readonly FieldError[];
  /** True if the request sets or removes the password. The new password is hashed before the transaction. */
  touchesPassword: boolean;
  rules: ProfileRules;
}

/** A validated change, with SCIM names in its errors. `edit` also contains attributes that the API lacks. */
type ValidEdit = ValidatedChange<UserInput> & { edit: Edit };

/** Converts the requests of identity providers to changes of users, by the same rules as for the API. */
@Injectable()
export class ScimUserChanges {
  constructor(
    private readonly users: UserRecords,
    private readonly newPasswords: NewPasswords,
    private readonly settings: UserSettings,
    private readonly resources: Resources,
    private readonly metrics: Metrics,
  ) {}

  /** Prepares the creation of a user. @param uuid the id of the new user. @throws ProblemError `validation_failed`. */
  async create(body: unknown, caller: Caller, uuid = uuidv7()): Promise<PendingChange> {
    const { resource, unassigned, errors } = await this.readBody(body, caller);
    rejectActiveRemoval(unassigned.has('active'));
    const touchesPassword = 'password' in resource;
    const edit = buildEdit({}, { active: true, ...resource }, touchesPassword, rulesOf(caller.actor));
    // Removes null values, so that a required field with the value null is reported as missing.
    const sent = Object.fromEntries(Object.entries(edit.input).filter(([, value]) => value !== null));
    const change = this.validate({ ...edit, input: sent }, createEmptyUser('', now()), errors, NewUserInput);
    const password_hash = await this.hashPassword(change, caller);
    const buildChange: PendingChange['buildChange'] = async (tx, _, added) => {
      const patch = await this.buildPatch(tx, change, password_hash, caller, added);
      return { patch: { ...patch, managed_by: MANAGED_BY_SCIM } };
    };
    return { kind: 'create', uuid, buildChange };
  }

  /**
   * Prepares a PUT.
   * @throws ProblemError for errors that do not depend on the current user.
   */
  async replace(id: string, body: unknown, caller: Caller, ifVersions?: Versions): Promise<PendingChange> {
    const read = await this.readBody(body, caller);
    const rules = rulesOf(caller.actor);
    const apply = (current: ScimObject): ScimObject => applyPut(current, read, this.resources.user, rules);
    const wrong = [...read.errors, ...findIdMismatch('id', read.id || undefined, id)];
    const touchesPassword = 'password' in read.resource || read.unassigned.has('password');
    return this.prepareChange(id, { apply, wrong, touchesPassword, rules }, caller, ifVersions);
  }

  /**
   * Prepares a PATCH.
   * @throws ProblemError for errors that do not depend on the current user.
   */
  async patch(id: string, body: unknown, caller: Caller, ifVersions?: Versions): Promise<PendingChange> {
    const rules = rulesOf(caller.actor);
    const countDeviation = createDeviationCounter(this.metrics, caller.actor);
    const options = { resource: this.resources.user, ignoreUnknown: rules.ignoresUnknown, countDeviation };
    const steps = await readPatch(body, options);
    const apply = (current: ScimObject): ScimObject => {
      const after = addMissingEmail(applySteps(current, steps, { countDeviation }));
      rejectActiveRemoval(getMember(after, 'active') === undefined);
      assertRequiredKept(after, steps);
      return after;
    };
    const touchesPassword = steps.some(({ target }) => target.attribute.name === 'password');
    return this.prepareChange(id, { apply, wrong: [], touchesPassword, rules }, caller, ifVersions);
  }

  /** Prepares a deletion. @throws ProblemError `not_found` if the id is not a UUID. */
  delete(id: string, caller: Caller, ifVersions?: Versions): PendingChange {
    const uuid = this.resources.user.parseId(id);
    return createDeletion(uuid, (user) => assertVisible(user, id, caller), ifVersions);
  }

  private readBody(body: unknown, { actor }: Caller): Promise<ReadResource> {
    return readResource(body, this.resources.user, createDeviationCounter(this.metrics, actor));
  }

  /**
   * Prepares a change. Its transaction computes the difference to the current user, so that concurrent changes do not
   * undo each other.
   */
  private async prepareChange(
    id: string,
    change: Change,
    caller: Caller,
    ifVersions: Versions,
  ): Promise<PendingChange> {
    const uuid = this.resources.user.parseId(id);
    let password_hash: string | null | undefined;
    if (change.touchesPassword) {
      const user = assertVisible(await this.users.find(uuid), uuid, caller);
      password_hash = await this.hashPassword(this.validateForUser(change, user), caller);
    }
    const buildChange: PendingChange['buildChange'] = async (tx, found, added) => {
      const user = assertVisible(found, id, caller);
      const valid = this.validateForUser(change, user);
      if (valid.errors.length > 0) throw createValidationError(valid.errors);
      const patch = await this.buildPatch(tx, valid, password_hash, caller, added);
      // A user whom an import blocked as missing has no data set until the user is active again.
      const isFree = user.managed_by === null && (user.blocked_by === null || patch.status === 'Active');
      if (isFree && Object.keys(patch).length > 0) patch.managed_by = MANAGED_BY_SCIM;
      return { patch, locked: user, byProvider: true, ifVersions };
    };
    return { kind: 'update', uuid, buildChange };
  }

  private validateForUser({ apply, wrong, touchesPassword, rules }: Change, user: User): ValidEdit {
    const current = toResource(user, '', '');
    return this.validate(buildEdit(current, apply(current), touchesPassword, rules), user, wrong);
  }

  /**
   * Validates a change by the rules of the API.
   * @param current the user before the change, or an empty user for a creation.
   * @param inputErrors errors that were found while the request was read. They replace other errors of the same attribute.
   */
  private validate(
    edit: Edit,
    current: User,
    inputErrors: readonly FieldError[],
    type: typeof UserInput = UserInput,
  ): ValidEdit {
    const change = validateChange(current, readInput<UserInput>(type, edit.input), this.settings);
    const known = new Set(inputErrors.map(({ field }) => topLevelPathOf(field)));
    const others = change.errors.map(toScimError).filter(({ field }) => !known.has(topLevelPathOf(field)));
    const tooLong = findSizeErrors({ ...current.attributes, ...edit.attributes });
    return { ...change, errors: [...inputErrors, ...others, ...tooLong], edit };
  }

  /**
   * Validates a change together with its password, then hashes the password.
   * @returns undefined if the password does not change.
   */
  private async hashPassword(change: ValidEdit, caller: Caller): Promise<string | null | undefined> {
    const attributes = { ...change.after.attributes, ...change.edit.attributes };
    const complete = { ...change, after: { ...change.after, attributes } };
    const errors = [...change.errors, ...(await this.newPasswords.validate(complete))];
    if (errors.length > 0) throw createValidationError(errors);
    return this.newPasswords.hash(change.input, caller);
  }

  /**
   * Builds the patch of a change. If the text of the manager is the id of a user that is visible to the API key,
   * the patch sets `manager_uuid`. Otherwise it sets an attribute with this text.
   */
  private async buildPatch(
    tx: Sql,
    { input, edit: { attributes, manager } }: ValidEdit,
    password_hash: string | null | undefined,
    { actor }: Caller,
    added?: ReadonlySet<string>,
  ): Promise<UserPatch> {
    const patch = toPatch(input, password_hash);
    if (Object.keys(attributes).length > 0) patch.attributes = attributes;
    if (manager === undefined) return patch;
    const uuid = manager !== null && isUuid(manager) ? manager.toLowerCase() : undefined;
    const isKnown =
      uuid !== undefined && (added?.has(uuid) === true || (await this.isVisible(uuid, actor, tx)));
    patch.attributes = { ...patch.attributes, manager: isKnown ? null : manager };
    return { ...patch, manager_uuid: isKnown ? uuid : null };
  }

  private async isVisible(uuid: string, actor: Actor, tx: Sql): Promise<boolean> {
    const user = await this.users.find(uuid, tx);
    return user !== undefined && !isHidden(user, actor);
  }
}

/** @throws ProblemError `not_found` if the user is missing, or hidden from the caller */
export function assertVisible(user: User | undefined, id: string, { actor }: Caller): User {
  if (!user || isHidden(user, actor)) throw createNotFoundError('User', id);
  return user;
}

/** Attributes that a PUT retains if they are omitted (scim.md, section 6). */
const RETAINED = ['active', 'roles', 'emails'];

/**
 * Returns the user after a PUT, which unassigns omitted attributes. Retains the attributes in `RETAINED`, attributes of
 * extensions that the request does not use, and all attributes if the key profile requires it.
 * @throws ProblemError `mutability` if `active` would be removed
 */
function applyPut(
  current: ScimObject,
  { resource, unassigned, extensions }: ReadResource,
  description: ResourceDescription,
  rules: ProfileRules,
): ScimObject {
  rejectActiveRemoval(unassigned.has('active'));
  const isRetained = ({ name, schema, path }: Attribute): boolean =>
    !unassigned.has(path) &&
    (rules.keepsOmitted || (schema === undefined ? RETAINED.includes(name) : !extensions.has(schema)));
  const values = new Map<Attribute, ScimValue>();
  for (const attribute of description.attributes) {
    const retained = isRetained(attribute) ? attribute.getValue(current) : undefined;
    const sent = attribute.getValue(resource);
    const isUnassigned = (name: string): boolean => unassigned.has(`${attribute.path}.${name}`);
    const value =
      rules.keepsOmitted && isScimObject(retained)
        ? Object.keys(retained)
            .filter(isUnassigned)
            .reduce(omitMember, { ...retained, ...(isScimObject(sent) && sent) })
        : (sent ?? retained);
    if (value !== undefined) values.set(attribute, value);
  }
  return buildResource(values);
}

/** @throws ProblemError `mutability` if `active` would be removed */
function rejectActiveRemoval(isRemoved: boolean): void {
  if (isRemoved) throw new ProblemError('mutability', 'active cannot be removed: set it to true or false.');
}

/**
 * Returns the differences between the current and the requested user, including the password. A null password removes
 * the password.
 */
function buildEdit(
  current: ScimObject,
  requested: ScimObject,
  touchesPassword: boolean,
  { ignoresPassword }: ProfileRules,
): Edit {
  const { password, ...resource } = requested;
  const edit = computeEdit(current, addMissingEmail(resource));
  if (touchesPassword && !ignoresPassword) edit.input['password'] = password ?? null;
  return edit;
}

/** Adds the userName as an e-mail address, if it is a valid address and the user lacks an e-mail address. */
function addMissingEmail(resource: ScimObject): ScimObject {
  const { userName, emails } = resource;
  const hasOne = objectsOf(emails).some(({ value }) => value !== undefined);
  if (hasOne || typeof userName !== 'string' || !isEmailAddress(userName.trim())) return resource;
  return { ...resource, emails: [{ value: userName, type: 'work', primary: true }] };
}

const toScimError = (error: FieldError): FieldError => ({ ...error, field: scimNameOf(error.field) });

/**
 * Shortens a path to its top-level attribute. In a path with the URN of an extension, the attribute name follows the
 * last colon.
 */
function topLevelPathOf(path: string): string {
  const at = path.lastIndexOf(':') + 1;
  return path.slice(0, at) + (/^[^.[]+/.exec(path.slice(at))?.[0] ?? '');
}

/** Maximum size of all stored attributes of a user, in bytes of JSON. */
const MAX_ATTRIBUTES_BYTES = 32 * 1024;

function findSizeErrors(attributes: object): FieldError[] {
  if (Buffer.byteLength(JSON.stringify(attributes)) <= MAX_ATTRIBUTES_BYTES) return [];
  const message = `may have at most ${MAX_ATTRIBUTES_BYTES / 1024} KiB in total`;
  return [{ field: 'attributes that are stored only for SCIM', code: 'too_long', message }];
}
