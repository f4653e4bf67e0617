import { ProblemError } from '../platform/common/errors.js';
import { isObject } from '../platform/common/json.js';
import { caseFold } from '../platform/common/text.js';
import type { ChangedUserInput } from './rules/user.input.js';

/** The fields of their own profile that all users may change (interface §3, "who writes"). */
const SELF_FIELDS = new Set([
  'phone',
  'mobile',
  'known_as',
  'password',
  'current_password',
  'user_avatar',
  'about_me',
  'social_media',
  'hide_email',
  'hide_phone_numbers',
]);
/** Without effect, and not refused. */
const IGNORED = new Set(['uuid', 'created', 'updated', 'last_access', 'attributes', 'group_roles']);
const isKept = (field: string): boolean => SELF_FIELDS.has(field) || IGNORED.has(field);

/**
 * Leaves only self fields in a user's own change. Clients send back what they read, so the current value of any other
 * field is accepted and removed: written, it could undo what a Webmaster changes at the same moment.
 * @param sent the result of `readInput`, in the form in which it would be stored.
 * @param shown the profile as its owner reads it; a field that it lacks has no current value to send back.
 * @throws ProblemError `field_not_permitted` naming the fields.
 */
export function keepSelfFields(sent: ChangedUserInput, shown: object): void {
  const current: Readonly<Record<string, unknown>> = { ...shown };
  const refused = Object.entries(sent)
    .filter(([field, value]) => value !== undefined && !isKept(field))
    .filter(([field, value]) => !(field in current && isCurrent(value, current[field])))
    .map(([field]) => field);
  if (refused.length > 0) {
    throw new ProblemError('field_not_permitted', `Only a Webmaster may change: ${refused.join(', ')}.`);
  }
  for (const field of Object.keys(sent)) if (!isKept(field)) Reflect.deleteProperty(sent, field);
}

function isCurrent(sent: unknown, shown: unknown): boolean {
  return JSON.stringify(comparable(sent)) === JSON.stringify(comparable(shown));
}

/** All empty values are equal, and roles have neither order nor case. */
function comparable(value: unknown): unknown {
  if (value === '') return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(roleKey).toSorted();
  if (isObject(value)) return Object.keys(value).length === 0 ? null : value;
  return value ?? null;
}

const roleKey = (role: unknown): unknown => (typeof role === 'string' ? caseFold(role) : role);
