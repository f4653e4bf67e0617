import { EXTERNAL_USER, ORGANISATIONAL_USER, type RoleCatalogue, WEBMASTER } from '../../access/roles.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isEmptyValue } from '../../platform/common/json.js';
import type { CheckedInput } from '../../platform/input/read-input.js';
import { type Attributes, MAX_ITEMS, hasTopLevelDomain } from '../model/formats.js';
import { EMPTY_USER, type User, diffUsers, rolesOf } from '../model/user.js';
import { type Actor, type Caller, toDatasetScope, isResponsibleFor, isSelf } from '../../access/actor.js';
import { UNCONFIRMED, hasScope, isConfirmed } from '../../access/policy.js';
import type { UserInput, WritableUserInput } from './user.input.js';
import type { UserSettings } from './user-settings.js';
import { type Failure, createFailure } from './failure.js';

/** The validated fields of a change, with a hash instead of the password. */
export type UserPatch = Omit<UserInput, 'password'> & {
  password_hash?: string | null;
  password_change_required?: boolean;
  managed_by?: string | null;
  managed_part?: string | null;
  blocked_by?: string | null;
  /** Attributes to change. A null or empty value removes the attribute, and omitted attributes keep their value. */
  attributes?: Attributes | null;
  /** Complete list of the roles from the user's groups. It replaces the previous list. */
  group_roles?: readonly string[] | null;
};

/**
 * Validates and normalizes fields by the rules that depend on settings. Skips fields with known errors.
 * @returns the input in its canonical form, and the new errors.
 */
export function applyConfiguredRules<T extends UserInput>(
  input: T,
  knownErrors: readonly FieldError[],
  settings: UserSettings,
): { input: T; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const canonical: T = Object.assign({}, input);
  const isValid = (field: string): boolean => !knownErrors.some((error) => error.field === field);
  if (input.email && settings.emailRequiresTld && !hasTopLevelDomain(input.email) && isValid('email'))
    errors.push(NO_TLD);
  if (input.roles && isValid('roles')) {
    const known = input.roles.flatMap((role) => settings.roles.find(role) ?? []);
    if (known.length < input.roles.length) errors.push(createRoleError(input.roles, settings.roles));
    else canonical.roles = settings.roles.sort(known);
  }
  if (input.user_avatar === settings.defaultAvatar) canonical.user_avatar = null;
  return { input: canonical, errors };
}

const NO_TLD = createFailure('email', 'invalid_format', 'must be an e-mail address with a top-level domain');

function createRoleError(sent: readonly string[], roles: RoleCatalogue): FieldError {
  const unknown = sent.filter((role) => roles.find(role) === undefined).join(', ');
  const message = `must contain only roles of this service, not ${unknown.slice(0, 200)}`;
  return createFailure('roles', 'unknown_role', message);
}

const EMPTY_VALUES: Readonly<Record<string, unknown>> = { ...EMPTY_USER };

/** Applies a patch to a user. Undefined keeps the value of a field, and null clears it (interface §3). */
export function applyPatch(current: User, patch: UserPatch): User {
  const next: User = { ...current };
  const sent: [string, unknown][] = Object.entries(patch);
  for (const [field, value] of sent) {
    if (value !== undefined) Reflect.set(next, field, value ?? EMPTY_VALUES[field]);
  }
  // `blocked_by` belongs to the previous status, so a change of the status clears it.
  if (next.status !== current.status && patch.blocked_by === undefined) next.blocked_by = null;
  if (next.password_hash !== current.password_hash)
    next.password_change_required = patch.password_change_required ?? false;
  if (patch.authname) next.authname = mergeObjects(current.authname, patch.authname);
  if (patch.social_media) next.social_media = mergeObjects(current.social_media, patch.social_media);
  if (patch.attributes) next.attributes = mergeObjects(current.attributes, patch.attributes);
  return next;
}

/** Adds the keys of `sent` to `current`. A key with an empty value is removed. */
function mergeObjects<T>(
  current: Readonly<Record<string, T>>,
  sent: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries({ ...current, ...sent }).filter(([, value]) => !isEmptyValue(value)),
  );
}

/**
 * Validates the rules about several fields.
 * @param user the user after the change.
 */
export function validateWholeUser(user: User): FieldError[] {
  const errors: FieldError[] = [];
  const roles = rolesOf(user);
  const isExternal = roles.includes(EXTERNAL_USER);
  if (isExternal && (roles.includes(ORGANISATIONAL_USER) || roles.includes(WEBMASTER)))
    errors.push(EXCLUSIVE_ROLES);
  if (Object.keys(user.authname).length > MAX_ITEMS.methods) errors.push(TOO_MANY_METHODS);
  if (user.manager_uuid === user.uuid) errors.push(OWN_MANAGER);
  return errors;
}

const EXCLUSIVE_ROLES: FieldError = {
  field: 'roles',
  code: 'exclusive_roles',
  message: `must not contain ${EXTERNAL_USER} together with ${ORGANISATIONAL_USER} or ${WEBMASTER}`,
};
const TOO_MANY_METHODS: FieldError = {
  field: 'authname',
  code: 'too_long',
  message: `must contain at most ${MAX_ITEMS.methods} methods`,
};
const OWN_MANAGER = createFailure('manager_uuid', 'self_reference', 'must not be the user itself');

export function isWebmasterUser(user: Pick<User, 'roles' | 'group_roles'>): boolean {
  return rolesOf(user).includes(WEBMASTER);
}

export function isActiveWebmaster(user: Pick<User, 'status' | 'roles' | 'group_roles'>): boolean {
  return user.status === 'Active' && isWebmasterUser(user);
}

/** Returns true if the change must end the user's sessions (interface §2). */
export function shouldEndSessions(before: User, after: User): boolean {
  const blocked = before.status === 'Active' && after.status === 'Blocked';
  return blocked || isWebmasterUser(before) !== isWebmasterUser(after);
}

export function createEmptyUser(uuid: string, time: string): User {
  return { ...EMPTY_USER, uuid, created: time, updated: time };
}

/**
 * Converts a validated input to a patch.
 * @param password_hash the hash of the new password, null to remove the password, or undefined to keep it.
 */
export function toPatch(input: WritableUserInput, password_hash?: string | null): UserPatch {
  const { password: _, current_password: _proof, ...patch } = input;
  return password_hash === undefined ? patch : { ...patch, password_hash };
}

export interface ValidatedChange<T extends UserInput> {
  /** The canonical input, including invalid fields. */
  input: T;
  errors: FieldError[];
  /** The user after the change. Invalid fields keep their previous value. */
  after: User;
}

/**
 * Validates a change by the rules that depend on settings and by the rules about several fields. The result also
 * contains the errors that the input already has.
 */
export function validateChange<T extends UserInput>(
  current: User,
  { value, errors: sent }: Pick<CheckedInput<T>, 'value' | 'errors'>,
  settings: UserSettings,
): ValidatedChange<T> {
  const { input, errors: ruleErrors } = applyConfiguredRules(value, sent, settings);
  const errors = [...sent, ...ruleErrors];
  const valid = errors.length === 0 ? input : omitFields(input, new Set(errors.map(({ field }) => field)));
  const after = applyPatch(current, valid);
  return { input, errors: [...errors, ...validateWholeUser(after)], after };
}

function omitFields(input: UserInput, fields: ReadonlySet<string>): UserInput {
  return Object.fromEntries(Object.entries(input).filter(([field]) => !fields.has(field)));
}

const NEEDS_WEBMASTERS: Failure = {
  field: '',
  code: 'insufficient_scope',
  message: 'This API key needs the scope webmasters to change a Webmaster',
};

const NEEDS_CONFIRMATION = createFailure('', 'reauthentication_required', UNCONFIRMED);

/**
 * Returns a failure if the actor lacks a scope, or if the change gives access to a Webmaster and the session is not
 * confirmed. Changing a Webmaster needs `webmasters`. An import needs the scope of the data set that manages the user.
 * @param before undefined for a new user.
 * @param after undefined for a deleted user.
 * @param byProvider true for an identity provider. Like an import, it needs `webmasters` only to change
 * `PROTECTED_FIELDS`.
 */
export function checkPrivilege(
  actor: Actor,
  before: User | undefined,
  after: User | undefined,
  byProvider = false,
): Failure | undefined {
  const dataset = actor.kind === 'import' ? before?.managed_by : undefined;
  const isForeign = dataset && !hasScope(actor, toDatasetScope(dataset));
  if (isForeign && hasChanges(before, after)) {
    const message = `This API key cannot import the data set ${dataset}, which manages this user`;
    return createFailure('', 'insufficient_scope', message);
  }
  if (after && givesAccess(actor, before, after) && !isConfirmed(actor)) return NEEDS_CONFIRMATION;
  const isConcerned = [before, after].some((user) => user && isWebmasterUser(user));
  if (!isConcerned || hasScope(actor, 'webmasters')) return undefined;
  if (actor.kind === 'import' || (after && byProvider)) return checkProtectedFields(actor, before, after);
  return hasChanges(before, after) ? NEEDS_WEBMASTERS : undefined;
}

/** Returns true for a new Webmaster, and for a change with which the actor could sign in as a Webmaster. */
function givesAccess(actor: Actor, before: User | undefined, after: User): boolean {
  if (!isWebmasterUser(after)) return false;
  if (!before || !isWebmasterUser(before)) return true;
  // Changing one's own password needs the current password instead.
  const isOwn = (field: string): boolean => field === 'password' && isSelf(actor, before.uuid);
  const changed = diffUsers(before, after).filter(
    ({ field }) => ACCESS_FIELDS.includes(field) && !isOwn(field),
  );
  return after.status === 'Active' && changed.length > 0;
}

const ROLE_FIELDS: readonly string[] = ['roles', 'group_roles'];
/** Fields with which a client could sign in as another user. Imports find users by their external id. */
const ACCESS_FIELDS: readonly string[] = [
  'status',
  'external_id',
  'username',
  'email',
  'authname',
  'password',
];
/** Fields with which a client could obtain the privileges of a Webmaster (interface §4). */
const PROTECTED_FIELDS: readonly string[] = [...ROLE_FIELDS, ...ACCESS_FIELDS];

/** Returns a failure if the change grants the role Webmaster, or changes a protected field of a Webmaster or deletes one. */
function checkProtectedFields(actor: Actor, before: User | undefined, after: User | undefined) {
  const wasWebmaster = before !== undefined && isWebmasterUser(before);
  const changed = new Set(after && diffUsers(before, after).map(({ field }) => field));
  const field = (wasWebmaster ? PROTECTED_FIELDS : ROLE_FIELDS).find((name) => !after || changed.has(name));
  if (field === undefined) return undefined;
  const user = before ? `of the ${wasWebmaster ? WEBMASTER : 'user'} ${before.uuid} ` : '';
  const action = wasWebmaster ? (after ? 'be changed' : 'be deleted') : `include ${WEBMASTER}`;
  const isOption = actor.kind === 'import' && !actor.allowsPrivileged;
  const need = isOption ? 'allow_privileged=true' : 'the scope webmasters';
  return createFailure(field, 'privileged_user', `${user}can ${action} only with ${need}`);
}

function hasChanges(before: User | undefined, after: User | undefined): boolean {
  return !before || !after || diffUsers(before, after).length > 0;
}

/** Returns true if users block themselves, directly or by an import that they started or approved. */
export function isSelfBlock(
  { actor }: Pick<Caller, 'actor'>,
  before: Pick<User, 'uuid' | 'status'> | undefined,
  { status }: { status?: string | null | undefined },
): boolean {
  return before?.status === 'Active' && status === 'Blocked' && isResponsibleFor(actor, before.uuid);
}
