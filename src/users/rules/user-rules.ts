import { WEBMASTER, EXTERNAL_USER, ORGANISATIONAL_USER, type RoleCatalogue } from '../../access/roles.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import {
  type Attributes,
  MOST,
  NETWORKS,
  type SocialMedia,
  hasTopLevelDomain,
  parsedUrl,
} from '../model/formats.js';
import type { UserInput } from './user.input.js';
import { EMPTY, type User, rolesOf } from '../model/user.js';

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
 * The rules that need settings. Puts the canonical form into the input.
 * Skips the fields that are `broken` already. Called once for a change, from the API and from the importer.
 */
export function settle(
  input: UserInput,
  broken: readonly FieldError[],
  settings: RuleSettings,
): FieldError[] {
  const errors: FieldError[] = [];
  const good = (field: string): boolean => !broken.some((error) => error.field === field);
  if (input.email && good('email') && settings.emailRequiresTld && !hasTopLevelDomain(input.email)) {
    errors.push({
      field: 'email',
      code: 'invalid_format',
      message: 'must be an e-mail address with a top-level domain',
    });
  }
  if (input.roles && good('roles')) {
    const unknown = input.roles.filter((role) => settings.roles.find(role) === undefined);
    if (unknown.length > 0) {
      const message = `must hold roles of this service only, not ${unknown.join(', ').slice(0, 200)}`;
      errors.push({ field: 'roles', code: 'unknown_role', message });
    } else {
      input.roles = settings.roles.sort(input.roles.map((role) => settings.roles.find(role) ?? role));
    }
  }
  if (input.user_avatar === settings.defaultAvatar) input.user_avatar = null;
  return errors;
}

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
  if (patch.authname) next.authname = merged(current.authname, patch.authname);
  if (patch.social_media)
    next.social_media = merged(current.social_media, keptLinks(current.social_media, patch.social_media));
  if (patch.attributes) next.attributes = mergedAttributes(current.attributes, patch.attributes);
  return next;
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
  const external = roles.includes(EXTERNAL_USER);
  if (external && (roles.includes(ORGANISATIONAL_USER) || roles.includes(WEBMASTER))) {
    const message = `may not hold ${EXTERNAL_USER} together with ${ORGANISATIONAL_USER} or ${WEBMASTER}`;
    errors.push({ field: 'roles', code: 'exclusive_roles', message });
  }
  if (Object.keys(user.authname).length > MOST.methods) {
    errors.push({ field: 'authname', code: 'too_long', message: `may hold at most ${MOST.methods} methods` });
  }
  if (user.manager_uuid === user.uuid) {
    errors.push({ field: 'manager_uuid', code: 'self_reference', message: 'may not be the user itself' });
  }
  return errors;
}

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

/**
 * All broken rules at once: `errors` of single fields, then those of the user as it would be with the good ones.
 * The API and the importer both call this, so that a value is refused alike wherever it comes from.
 */
export function brokenRules(input: UserInput, errors: readonly FieldError[], current: User): FieldError[] {
  return judged(input, errors, current).errors;
}

/** As `brokenRules`, with the user as it would be. */
export function judged(
  input: UserInput,
  errors: readonly FieldError[],
  current: User,
): { errors: FieldError[]; after: User } {
  const broken = newErrors(input, errors, current);
  const good = broken.length === 0 ? input : without(input, new Set(broken.map(({ field }) => field)));
  const after = patched(current, good);
  return { errors: [...broken, ...wholeErrors(after)], after };
}

/**
 * The errors without those about invisible characters that the user has already: older versions stored them, and what a
 * client or a file sends back as it was changes nothing.
 */
export function newErrors(
  input: UserInput,
  errors: readonly FieldError[],
  current: User,
): readonly FieldError[] {
  if (errors.length === 0) return errors;
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
