import { createHash } from 'node:crypto';
import { caseFold, fold, normalForm, truncated } from '../../platform/common/text.js';

/** Longest text that a key column holds. */
const MAX_KEY = 255;

/**
 * The key by which usernames and e-mail addresses are equal (interface §3): NFKC, trimmed, white space collapsed, case
 * folded. Accents count: `José` and `Jose` are two people.
 */
export function loginKey(text: string): string {
  return bounded(loginForm(text));
}

/**
 * The key by which attributes of identity providers are looked up: as `loginKey`, cut to its column and without what no
 * column holds. Equal texts have equal keys, a text begins with the key of its beginning, and different texts may share
 * one: who looks up by it compares the text itself afterwards.
 */
export function valueKey(text: string): string {
  return truncated(loginForm(text.toWellFormed().replaceAll('\0', '')), MAX_KEY);
}

/** The login key before its length is bounded: its parts compare too. */
export function loginForm(text: string): string {
  const collapsed = normalForm(text, 'NFKC').trim().replace(/\s+/gu, ' ');
  return normalForm(caseFold(collapsed), 'NFKC');
}

/** The key by which external ids and authnames are equal: NFC and trimmed, case-sensitive. */
export function exactKey(text: string): string {
  return bounded(normalForm(text, 'NFC').trim());
}

/** The key by which names are sorted: case and accents folded. */
export function sortKey(text: string): string {
  return truncated(fold(text), MAX_KEY);
}

/** Normalisation can make a text longer than its column (`ﬃ` becomes `ffi`); such a key is replaced by its hash. */
function bounded(key: string): string {
  return key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** A value that only one user may have, and its field. */
export interface Identifier {
  identifier: string;
  field: 'username' | 'email' | 'external_id' | 'authname';
}

/** Username and e-mail share one space, because login accepts both. */
export const loginIdentifier = (name: string): string => `login:${loginKey(name)}`;
const externalIdIdentifier = (externalId: string): string => `external_id:${exactKey(externalId)}`;
export const authnameIdentifier = (method: string, name: string): string =>
  `authname:${method}:${exactKey(name)}`;

/** The fields that identifiers are made of. */
export const IDENTIFYING = ['username', 'email', 'external_id', 'authname'] as const;
interface Identified {
  username: string;
  email: string;
  external_id: string;
  authname: Readonly<Record<string, string[]>>;
}

/** All values of a user that no other user may have. */
export function identifiersOf(user: Identified): Identifier[] {
  const list: Identifier[] = [
    { field: 'username', identifier: loginIdentifier(user.username) },
    { field: 'email', identifier: loginIdentifier(user.email) },
  ];
  if (user.external_id !== '') {
    list.push({ field: 'external_id', identifier: externalIdIdentifier(user.external_id) });
  }
  for (const [method, names] of Object.entries(user.authname)) {
    for (const name of names) list.push({ field: 'authname', identifier: authnameIdentifier(method, name) });
  }
  return list;
}
