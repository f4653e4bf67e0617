import type { User } from '../../../src/users/model/user.js';
import { createEmptyUser } from '../../../src/users/rules/user-rules.js';
import { toDbTime } from '../../../src/platform/common/time.js';

/** Prefix of all seeded UUIDs. The service creates no UUID with this prefix. */
export const SEEDED = '01900000-0000-7000-8000-';

/** Id of the API key in seeded databases. */
export const KEY_ID = `${SEEDED}00000000000a`;

export const PHONE = '+44 20 7946 0958';

const DIGITS = 7;
const FIRST_DAY = Date.parse('2026-01-01T00:00:00Z');
const ABOUT =
  'Keeps the shared calendars in order, plans the moves between floors, and is whom to ask about badges, parking ' +
  'and the loan of meeting equipment. Works from the second office on Tuesdays and Thursdays; leave a message else.';

/**
 * Returns the texts that represent number `n` in the row of its user. Replacing them in statements for one user gives
 * the statements for another user.
 */
export function formsOf(n: number): [token: string, letters: string, mixed: string] {
  const token = String(n).padStart(DIGITS, '0');
  const letters = token.replace(/\d/g, (digit) => 'aeioubdfgk'[Number(digit)] ?? '');
  return [token, letters, Array.from(letters).reverse().join('')];
}

export const uuidOf = (n: number): string => `${SEEDED}00000${formsOf(n)[0]}`;
export const usernameOf = (n: number): string => `user.${formsOf(n)[0]}`;
export const externalIdOf = (n: number): string => `HR-${formsOf(n)[0]}`;

/** Builds user number `n`, about 1 KB of JSON. First names and UUIDs have different orders. */
export function personOf(n: number, passwordHash: string | null): User {
  const [token, letters, mixed] = formsOf(n);
  const created = toDbTime(new Date(FIRST_DAY + n * 1000));
  return {
    ...createEmptyUser(uuidOf(n), created),
    username: usernameOf(n),
    email: `${usernameOf(n)}@example.org`,
    external_id: externalIdOf(n),
    firstname: `N${mixed}`,
    surname: `S${letters}`,
    known_as: 'Sam',
    phone: PHONE,
    mobile: `+44 7700 ${token}`,
    about_me: ABOUT,
    authname: { saml: [`${usernameOf(n)}@idp.example.org`] },
    social_media: { linkedin: `https://social.example.org/in/${usernameOf(n)}` },
    manager_uuid: n === 0 ? null : uuidOf(0),
    password_hash: passwordHash,
    updated: created,
  };
}
