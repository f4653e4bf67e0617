import { isDeepStrictEqual } from 'node:util';
import { type FieldError, ProblemError } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import { isEmailAddress } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import type { ValidatedChange } from '../../users/rules/user-rules.js';
import { NewUserInput, UserInput } from '../../users/rules/user.input.js';
import type { UserChanges } from '../../users/user-changes.service.js';
import type { ProfileRules } from '../http/key-rules.js';
import { applySteps } from '../protocol/patch.js';
import {
  type Attribute,
  type ResourceDescription,
  type ScimObject,
  type ScimValue,
  member,
  objectsIn,
  resourceOf,
} from '../protocol/attribute.js';
import type { ReadResource } from '../protocol/input.js';
import type { PatchOptions, PatchStep } from '../protocol/patch.js';
import { scimNameOf, toFields } from './user.mapping.js';

/** A user as a request wants it. */
export interface Wanted {
  resource: ScimObject;
  /** A text is set, null removes it; undefined: it stays. */
  password: string | null | undefined;
}

/** Attributes that a PUT without them leaves alone (scim.md, section 6). */
const STAYS = ['active', 'roles', 'emails'];

/** Returns a new user, active by default. */
export function created({ resource, unassigned }: ReadResource, rules: ProfileRules): Wanted {
  assertActive(unassigned.has('active'));
  return split({ active: true, ...resource }, undefined, rules);
}

/**
 * Returns a user after a PUT. Omitted attributes are unassigned, except for some, for those of extensions that it does not
 * name, and by the rules of the profile.
 * @throws ProblemError `mutability` where it would leave the user without `active`
 */
export function replaced(
  current: ScimObject,
  { resource, unassigned, extensions }: ReadResource,
  description: ResourceDescription,
  rules: ProfileRules,
): Wanted {
  assertActive(unassigned.has('active'));
  const stays = ({ name, schema, path }: Attribute): boolean =>
    !unassigned.has(path) &&
    (rules.keepsOmitted || (schema === undefined ? STAYS.includes(name) : !extensions.has(schema)));
  const values = new Map<Attribute, ScimValue>();
  for (const attribute of description.attributes) {
    const kept = stays(attribute) ? attribute.valueIn(current) : undefined;
    const value = attribute.valueIn(resource) ?? kept;
    if (value !== undefined) values.set(attribute, value);
  }
  return split(resourceOf(values), unassigned.has('password') ? null : undefined, rules);
}

/**
 * Returns a user after a PATCH.
 * @throws ProblemError as `applySteps`; `mutability` where it would be left without `active` or an e-mail address
 */
export function patchedBy(
  current: ScimObject,
  steps: readonly PatchStep[],
  options: PatchOptions,
  rules: ProfileRules,
): Wanted {
  const after = applySteps(current, steps, options);
  assertActive(member(after, 'active') === undefined);
  const userName = member(after, 'userName');
  if (member(after, 'emails') === undefined && !(typeof userName === 'string' && isEmailAddress(userName))) {
    throw new ProblemError('mutability', 'emails cannot be removed: userName is no e-mail address.');
  }
  const touches = steps.some(({ target }) => target.attribute.name === 'password');
  return split(after, touches ? null : undefined, rules);
}

function assertActive(isGone: boolean): void {
  if (isGone) throw new ProblemError('mutability', 'active cannot be removed: set it to true or false.');
}

/** @param otherwise the password where none is set. */
function split(resource: ScimObject, otherwise: null | undefined, rules: ProfileRules): Wanted {
  const { password, ...rest } = resource;
  const set = typeof password === 'string' ? password : otherwise;
  return { resource: withAddress(rest), password: rules.ignoresPassword ? undefined : set };
}

/** A user without e-mail addresses logs in with one as userName, or has none. */
function withAddress(resource: ScimObject): ScimObject {
  const { userName, emails } = resource;
  const hasOne = objectsIn(emails).some(({ value }) => value !== undefined);
  if (hasOne || typeof userName !== 'string' || !isEmailAddress(userName.trim())) return resource;
  return { ...resource, emails: [{ value: userName, type: 'work', primary: true }] };
}

/** All attributes of a user together, as JSON. */
const MAX_ATTRIBUTES_BYTES = 32 * 1024;

/** What a request changes of a user: the fields that differ, in the form of the API, and what is kept beside them. */
export interface Edit {
  input: JsonObject;
  attributes: Record<string, ScimValue | null>;
  /** Undefined where it stays. */
  manager: string | null | undefined;
}

/** Returns the difference between a user and what a request wants it to be. Equal values are neither written nor validated. */
export function editOf(current: ScimObject, { resource, password }: Wanted): Edit {
  const [before, after] = [toFields(current), toFields(resource)];
  const { manager_uuid: manager, ...input } = differing(before.input, after.input);
  for (const field of ['authname', 'social_media'] as const) {
    if (input[field] !== undefined && input[field] !== null)
      input[field] = withRemovals(before.input[field], input[field], field);
  }
  if (password !== undefined) input['password'] = password;
  return {
    input,
    attributes: differing(before.attributes, after.attributes),
    manager: typeof manager === 'string' || manager === null ? manager : undefined,
  };
}

/** The API replaces the members that are named: those that are gone are named empty. */
function withRemovals(before: unknown, after: unknown, field: 'authname' | 'social_media'): JsonObject {
  const old = Object.keys(before ?? {}).map((name) => [name, field === 'authname' ? [] : '']);
  return { ...Object.fromEntries(old), ...Object(after) } as JsonObject; // both are objects
}

function differing<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>) {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name] ?? null, value ?? null)),
  );
}

/**
 * Validates a change by the rules of the API.
 * @param current the user before it. A new user has no fields.
 * @param wrong errors about what suits no attribute. They replace other errors of the same attribute.
 * @returns the change with its errors by the names of SCIM.
 */
export function validateEdit(
  edit: Edit,
  current: User,
  isNew: boolean,
  wrong: readonly FieldError[],
  changes: UserChanges,
): ValidatedChange<UserInput> {
  const type = isNew ? NewUserInput : UserInput;
  const change = changes.validate(current, readInput<UserInput>(type, edit.input));
  const known = new Set(wrong.map(({ field }) => topOf(field)));
  return {
    ...change,
    errors: [
      ...wrong,
      ...change.errors.map(toScim).filter(({ field }) => !known.has(topOf(field))),
      ...sizeErrors({ ...current.attributes, ...edit.attributes }),
    ],
  };
}

const toScim = (error: FieldError): FieldError => ({ ...error, field: scimNameOf(error.field) });

/** The attribute that a path leads into: an extension's is behind the last colon. */
function topOf(path: string): string {
  const at = path.lastIndexOf(':') + 1;
  return path.slice(0, at) + (/^[^.[]+/.exec(path.slice(at))?.[0] ?? '');
}

function sizeErrors(attributes: object): FieldError[] {
  if (Buffer.byteLength(JSON.stringify(attributes)) <= MAX_ATTRIBUTES_BYTES) return [];
  const message = `may take at most ${MAX_ATTRIBUTES_BYTES / 1024} KiB together`;
  return [{ field: 'the attributes that are kept as they were sent', code: 'too_long', message }];
}
