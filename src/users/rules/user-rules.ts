import { EXTERNAL_USER, ORGANISATIONAL_USER, type RoleCatalogue, WEBMASTER } from '../../access/roles.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import type { Checked } from '../../platform/input/read-input.js';
import {
  type Attributes,
  MOST,
  NETWORKS,
  type SocialMedia,
  hasTopLevelDomain,
  parsedUrl,
} from '../model/formats.js';
import { EMPTY, type User, differences, rolesOf } from '../model/user.js';
import { type Actor, type Caller, datasetScope, isBehind } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import type { UserInput } from './user.input.js';
import type { Failure } from './failure.js';

/** The settings that decide about values. */
export interface RuleSettings {
  roles: RoleCatalogue;
  emailRequiresTld: boolean;
  /** URL of the picture of users without one: as input it clears the field. */
  defaultAvatar: string;
}

/** A change for the writer: checked input, with the password hashed. */
export type UserPatch = Omit<UserInput, 'password'> & {
  password_hash?: string | null;
  managed_by?: string | null;
  managed_part?: string | null;
  blocked_by?: string | null;
  /** The attributes that are named are replaced; one that is null or empty goes. */
  attributes?: Attributes | null;
  /** All roles that groups give. */
  group_roles?: readonly string[] | null;
};

/**
 * Applies the rules that need settings, except to fields that are `broken` already.
 * @returns the input in its canonical form, and the rules that it breaks.
 */
export function applyConfiguredRules<T extends UserInput>(
  input: T,
  broken: readonly FieldError[],
  settings: RuleSettings,
): { input: T; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const canonical: T = Object.assign({}, input);
  const isGood = (field: string): boolean => !broken.some((error) => error.field === field);
  if (input.email && settings.emailRequiresTld && !hasTopLevelDomain(input.email) && isGood('email'))
    errors.push(NO_TOP_LEVEL_DOMAIN);
  if (input.roles && isGood('roles')) {
    const unknown = unknownRole(input.roles, settings.roles);
    if (unknown) errors.push(unknown);
    else canonical.roles = canonicalRoles(input.roles, settings.roles);
  }
  if (input.user_avatar === settings.defaultAvatar) canonical.user_avatar = null;
  return { input: canonical, errors };
}

const NO_TOP_LEVEL_DOMAIN: FieldError = {
  field: 'email',
  code: 'invalid_format',
  message: 'must be an e-mail address with a top-level domain',
};

function unknownRole(sent: readonly string[], roles: RoleCatalogue): FieldError | undefined {
  const unknown = sent.filter((role) => roles.find(role) === undefined);
  if (unknown.length === 0) return undefined;
  const message = `must hold roles of this service only, not ${unknown.join(', ').slice(0, 200)}`;
  return { field: 'roles', code: 'unknown_role', message };
}

const canonicalRoles = (sent: readonly string[], roles: RoleCatalogue) =>
  roles.sort(sent.map((role) => roles.find(role) ?? role));

/** What null changes a field to. */
const EMPTY_VALUES: Readonly<Record<string, unknown>> = { ...EMPTY };

/** The user after a patch: what was not sent stays, null clears (interface §3). */
export function patched(current: User, patch: UserPatch): User {
  const next: User = { ...current };
  const sent: [string, unknown][] = Object.entries(patch);
  for (const [field, value] of sent) {
    if (value !== undefined) Reflect.set(next, field, value ?? EMPTY_VALUES[field]);
  }
  // The reason of a block goes with it: who blocks or reactivates a user for another one says nothing of it.
  if (next.status !== current.status && patch.blocked_by === undefined) next.blocked_by = null;
  if (patch.user_avatar) next.user_avatar = kept(current.user_avatar, patch.user_avatar);
  if (patch.authname ?? patch.social_media ?? patch.attributes) mergeDocuments(next, current, patch);
  return next;
}

/** Merges the documents of a patch into those of a user, member by member. */
function mergeDocuments(next: User, current: User, { authname, social_media, attributes }: UserPatch): void {
  if (authname) next.authname = merged(current.authname, authname);
  if (social_media)
    next.social_media = merged(current.social_media, keptLinks(current.social_media, social_media));
  if (attributes) next.attributes = mergedAttributes(current.attributes, attributes);
}

/** Replaces the members that are named, drops those that are named empty. */
function merged<T extends string | string[]>(
  current: Readonly<Record<string, T>>,
  sent: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(Object.entries({ ...current, ...sent }).filter(([, value]) => value.length > 0));
}

function mergedAttributes(current: Attributes, sent: Attributes): Attributes {
  const isSet = (value: unknown): boolean =>
    value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries({ ...current, ...sent }).filter(([, value]) => isSet(value)));
}

/** The URL that was sent, or the stored one where they differ only in form: that changes nothing. */
function kept(stored: string, sent: string): string {
  return stored !== sent && parsedUrl(stored) === sent ? stored : sent;
}

function keptLinks(stored: SocialMedia, sent: SocialMedia): SocialMedia {
  const links = NETWORKS.flatMap((network) => {
    const url = sent[network];
    return url === undefined ? [] : [[network, kept(stored[network] ?? '', url)] as const];
  });
  return Object.fromEntries(links);
}

/** The rules that concern several fields, for the user after a patch. */
export function wholeErrors(user: User): FieldError[] {
  const errors: FieldError[] = [];
  const roles = rolesOf(user);
  const isExternal = roles.includes(EXTERNAL_USER);
  if (isExternal && (roles.includes(ORGANISATIONAL_USER) || roles.includes(WEBMASTER)))
    errors.push(EXCLUSIVE_ROLES);
  if (Object.keys(user.authname).length > MOST.methods) errors.push(TOO_MANY_METHODS);
  if (user.manager_uuid === user.uuid) errors.push(OWN_MANAGER);
  return errors;
}

const EXCLUSIVE_ROLES: FieldError = {
  field: 'roles',
  code: 'exclusive_roles',
  message: `may not hold ${EXTERNAL_USER} together with ${ORGANISATIONAL_USER} or ${WEBMASTER}`,
};
const TOO_MANY_METHODS: FieldError = {
  field: 'authname',
  code: 'too_long',
  message: `may hold at most ${MOST.methods} methods`,
};
const OWN_MANAGER: FieldError = {
  field: 'manager_uuid',
  code: 'self_reference',
  message: 'may not be the user itself',
};

/** A Webmaster by its own roles or by a group. */
export function isWebmasterUser(user: Pick<User, 'roles' | 'group_roles'>): boolean {
  return rolesOf(user).includes(WEBMASTER);
}

/** An active Webmaster; the last one may not be blocked, demoted or deleted. */
export function isActiveWebmaster(user: Pick<User, 'status' | 'roles' | 'group_roles'>): boolean {
  return user.status === 'Active' && isWebmasterUser(user);
}

/** Whether a change must end the user's sessions (interface §2). */
export function endsSessions(before: User, after: User): boolean {
  const blocked = before.status === 'Active' && after.status === 'Blocked';
  return blocked || isWebmasterUser(before) !== isWebmasterUser(after);
}

/** A user before its first change. */
export function newUser(uuid: string, time: string): User {
  return { ...EMPTY, uuid, created: time, updated: time };
}

/** A validated change: its input in canonical form, every rule that it breaks, and the user with all that is good of it. */
export interface ValidatedChange<T extends UserInput> {
  input: T;
  errors: FieldError[];
  after: User;
}

/**
 * Validates a change of a user: `errors` of single fields, the configured rules, then the rules of the user as a whole.
 * The API and the importer both call this function, so that they refuse the same values.
 */
export function validateChange<T extends UserInput>(
  current: User,
  { value, errors: sent }: Pick<Checked<T>, 'value' | 'errors'>,
  settings: RuleSettings,
): ValidatedChange<T> {
  const { input, errors } = applyConfiguredRules(value, sent, settings);
  const all = [...sent, ...errors];
  const broken = all.length > 0 ? newErrors(input, all, current) : all;
  const good = broken.length === 0 ? input : without(input, new Set(broken.map(({ field }) => field)));
  const after = patched(current, good);
  return { input, errors: [...broken, ...wholeErrors(after)], after };
}

/**
 * Returns the errors without those about invisible characters that are stored already: older versions stored them, and a
 * client or a file that sends the stored value back changes nothing.
 */
function newErrors(input: UserInput, errors: readonly FieldError[], current: User): readonly FieldError[] {
  const sent = new Map<string, unknown>(Object.entries(input));
  const stored = new Map<string, unknown>(Object.entries(current));
  return errors.filter(
    ({ field, code }) => code !== 'invisible_character' || !isPartOf(stored.get(field), sent.get(field)),
  );
}

/** Whether a user has all of a value that was sent. */
function isPartOf(stored: unknown, sent: unknown): boolean {
  if (!isObject(stored) || !isObject(sent)) return JSON.stringify(stored) === JSON.stringify(sent ?? stored);
  return Object.entries(sent).every(([member, value]) => isPartOf(stored[member], value));
}

function without(input: UserInput, fields: ReadonlySet<string>): UserInput {
  return Object.fromEntries(Object.entries(input).filter(([field]) => !fields.has(field)));
}

const NEEDS_WEBMASTERS: Failure = {
  field: '',
  code: 'insufficient_scope',
  message: 'This API key lacks the scope webmasters, which every change of a Webmaster needs',
};

const foreignDataset = (dataset: string): Failure => ({
  field: '',
  code: 'insufficient_scope',
  message: `The data set ${dataset} manages this user, and this API key may not import it`,
});

/**
 * A key without the scope `webmasters` changes nothing of a user who is a Webmaster before the change or after it: who may
 * change the e-mail address or password of a Webmaster, or take the role away, has that power itself. The one rule for the
 * API and for rows of a file. A key that may import some data sets changes by files no user that another one manages.
 * @param before undefined for a new user. @param after undefined for one that is deleted.
 * @param byProvider of identity providers, which keep Webmasters up to date too: only changes of what is `GUARDED` are
 * refused.
 */
export function privilegeFailure(
  actor: Actor,
  before: User | undefined,
  after: User | undefined,
  byProvider = false,
): Failure | undefined {
  const dataset = actor.kind === 'import' ? before?.managed_by : undefined;
  const isForeign = dataset && !hasScope(actor, datasetScope(dataset));
  if (isForeign && changes(before, after)) return foreignDataset(dataset);
  if (hasScope(actor, 'webmasters')) return undefined;
  const concerned = [before, after].some((user) => user && isWebmasterUser(user));
  return concerned && changes(before, after, byProvider ? GUARDED : undefined) ? NEEDS_WEBMASTERS : undefined;
}

/**
 * What gives, takes or lends the power of a Webmaster (scim.md, section 3). The external id is one of them: a file gives its
 * roles to whoever has it, and without it the user would be a local operator, out of the provider's reach for good.
 */
const GUARDED: readonly string[] = [
  'external_id',
  'roles',
  'group_roles',
  'status',
  'username',
  'email',
  'authname',
  'password',
];

/** @param fields the only ones that count; all of them where they are not given. */
function changes(before: User | undefined, after: User | undefined, fields?: readonly string[]): boolean {
  if (!before || !after) return true;
  return differences(before, after).some(({ field }) => !fields || fields.includes(field));
}

/** Whether a change would block the account that makes it, or that has started or approved the import that makes it. */
export function blocksSelf(
  { actor }: Pick<Caller, 'actor'>,
  before: Pick<User, 'uuid' | 'status'> | undefined,
  { status }: { status?: string | null | undefined },
): boolean {
  return before?.status === 'Active' && status === 'Blocked' && isBehind(actor, before.uuid);
}
