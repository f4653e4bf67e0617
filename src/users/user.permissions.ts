import { ProblemError } from '../common/errors.js';
import { type JsonObject, isObject } from '../common/json.js';
import { line, trimmed } from '../common/rules.js';
import { ChangedUserInput } from './user.input.js';
import { fieldsOf } from '../common/input.js';

/** What everybody may change of their own profile (interface §3, "who writes"). */
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
const IGNORED = new Set(['uuid', 'created', 'updated', 'last_access']);

/**
 * Clients send back what they read, so the current value of any field is accepted.
 * @param shown the profile as its owner reads it.
 * @throws ProblemError `field_not_permitted` naming the fields.
 */
export function assertSelfFields(sent: JsonObject, shown: JsonObject): void {
  const known = fieldsOf(ChangedUserInput);
  const refused = Object.keys(sent).filter(
    (field) =>
      known.has(field) &&
      !SELF_FIELDS.has(field) &&
      !IGNORED.has(field) &&
      !isCurrent(sent[field], shown[field]),
  );
  if (refused.length === 0) return;
  throw new ProblemError('field_not_permitted', `Only a Webmaster may change: ${refused.join(', ')}.`);
}

function isCurrent(sent: unknown, shown: unknown): boolean {
  return JSON.stringify(comparable(sent)) === JSON.stringify(comparable(shown));
}

/** Empty values of every type are one; text is compared as it would be stored. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string') return line(value) ?? trimmed(value) ?? null;
  if (Array.isArray(value)) return value.length === 0 ? null : (value as unknown[]).toSorted();
  if (isObject(value)) return Object.keys(value).length === 0 ? null : value;
  return value ?? null;
}
