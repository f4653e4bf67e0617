import {
  WEBMASTER,
  DEFAULT_ROLES,
  EXTERNAL_USER,
  ORGANISATIONAL_USER,
  type RoleCatalogue,
} from '../../access/roles.js';
import type { FieldError } from '../../common/errors.js';
import { MOST, hasTopLevelDomain } from '../model/formats.js';
import type { UserInput } from './user.input.js';
import { loginKey } from '../model/keys.js';
import type { Authname, SocialMedia, User } from '../model/user.js';

/** The settings that decide about values. */
export interface RuleSettings {
  roles: RoleCatalogue;
  emailRequiresTld: boolean;
  /** Address of the picture that stands for "not set". */
  defaultAvatar: string;
}

/** A change as the writer takes it: checked input, with the password already hashed. */
export type UserPatch = Omit<UserInput, 'password' | 'current_password'> & {
  password_hash?: string | null;
  managed_by?: string | null;
};

/**
 * The rules that need settings, in the same form as those of `UserInput`. Puts the canonical form into the input.
 * Not asked about fields that are `broken` already. Pure; asked once for a change, from whichever door it comes.
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
      const message = `must hold roles of this service only (${unknown.join(', ').slice(0, 200)} is none)`;
      errors.push({ field: 'roles', code: 'unknown_role', message });
    } else {
      input.roles = settings.roles.sort(input.roles.map((role) => settings.roles.find(role) ?? role));
    }
  }
  if (input.user_avatar === settings.defaultAvatar) input.user_avatar = null;
  return errors;
}

/** The user after a patch: what was not sent stays, null clears (interface §3). */
export function patched(current: User, patch: UserPatch): User {
  const {
    authname,
    social_media,
    roles,
    status,
    username,
    email,
    manager_uuid,
    password_hash,
    managed_by,
    ...plain
  } = patch;
  const next: User = { ...current };
  assignCleared(next, plain);
  if (username) next.username = username;
  if (email) next.email = email;
  if (status) next.status = status;
  if (roles !== undefined) next.roles = roles ?? DEFAULT_ROLES;
  if (manager_uuid !== undefined) next.manager_uuid = manager_uuid;
  if (password_hash !== undefined) next.password_hash = password_hash;
  if (managed_by !== undefined) next.managed_by = managed_by;
  if (authname !== undefined) next.authname = merged<Authname>(current.authname, authname);
  if (social_media !== undefined) next.social_media = merged<SocialMedia>(current.social_media, social_media);
  return next;
}

const TEXTS = new Set([
  'external_id',
  'phone',
  'mobile',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'user_avatar',
  'about_me',
]);

/** The fields that were sent, with the empty value of their type for null. */
function assignCleared(next: User, plain: Record<string, unknown>): void {
  const fields = next as unknown as Record<string, unknown>;
  for (const field of Object.keys(plain)) {
    const value = plain[field];
    if (value !== undefined) fields[field] = value ?? (TEXTS.has(field) ? '' : false);
  }
}

/** Replaces the members that are named, drops those that are named empty; null drops all. */
function merged<T extends object>(current: Readonly<T>, sent: T | null): T {
  if (sent === null) return {} as T;
  const members = Object.entries({ ...current, ...sent }).filter(
    ([, value]) => (value as string | string[]).length > 0,
  );
  return Object.fromEntries(members) as T;
}

/** Rules about a user as a whole, after a patch. */
export function wholeErrors(user: User): FieldError[] {
  const errors: FieldError[] = [];
  const external = user.roles.includes(EXTERNAL_USER);
  if (external && (user.roles.includes(ORGANISATIONAL_USER) || user.roles.includes(WEBMASTER))) {
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

/** A password that an attacker tries first. The rest of the password's rules stand in `UserInput`. */
export function passwordErrors(password: string, user: { username: string; email: string }): FieldError[] {
  const key = loginKey(password);
  if (key !== loginKey(user.username) && key !== loginKey(user.email)) return [];
  return [
    { field: 'password', code: 'invalid_value', message: 'may not be the username or the e-mail address' },
  ];
}

/** An active Webmaster: one of those of whom the last must stay. */
export function isActiveWebmaster(user: Pick<User, 'status' | 'roles'>): boolean {
  return user.status === 'Active' && user.roles.includes(WEBMASTER);
}

/** Whether a change must end the user's sessions (interface §2). */
export function endsSessions(before: User, after: User): boolean {
  const blocked = before.status === 'Active' && after.status === 'Blocked';
  return blocked || before.roles.includes(WEBMASTER) !== after.roles.includes(WEBMASTER);
}

/** A user before its first change. */
export function newUser(uuid: string, time: string): User {
  return {
    uuid,
    username: '',
    email: '',
    external_id: '',
    roles: DEFAULT_ROLES,
    status: 'Active',
    phone: '',
    mobile: '',
    firstname: '',
    middle_name: '',
    surname: '',
    known_as: '',
    authname: {},
    password_hash: null,
    user_avatar: '',
    manager_uuid: null,
    about_me: '',
    social_media: {},
    hide_email: false,
    hide_phone_numbers: false,
    managed_by: null,
    created: time,
    updated: time,
    last_access: null,
    version: 1,
  };
}
