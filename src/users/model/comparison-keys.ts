import { createHash } from 'node:crypto';
import { foldCase, fold, toNormalForm, truncate } from '../../platform/common/text.js';

/** Length of a key column, in characters. */
const MAX_KEY = 255;

/**
 * Computes the key that compares usernames and e-mail addresses (interface §3): NFKC, trimmed, white space collapsed,
 * case folded. Accents count, so `José` and `Jose` are different users.
 */
export function loginKey(text: string): string {
  return bounded(loginForm(text));
}

/**
 * Computes the key that finds an attribute of an identity provider: like a login key, truncated to the column. Different
 * texts can have the same key, so callers must also compare the text.
 */
export function valueKey(text: string): string {
  return truncate(loginForm(text.toWellFormed().replaceAll('\0', '')), MAX_KEY);
}

/** Computes a login key of unlimited length, for the comparison of parts of a text. */
export function loginForm(text: string): string {
  const collapsed = toNormalForm(text, 'NFKC').trim().replace(/\s+/gu, ' ');
  return toNormalForm(foldCase(collapsed), 'NFKC');
}

/** Computes the key that compares external ids and authnames: NFC, trimmed, case-sensitive. */
export function exactKey(text: string): string {
  return bounded(toNormalForm(text, 'NFC').trim());
}

/** Computes the key that sorts names: case and accents folded. */
export function sortKey(text: string): string {
  return truncate(fold(text), MAX_KEY);
}

/** Replaces a key that is too long for its column by its hash. Normalization can lengthen a text: `ﬃ` becomes `ffi`. */
function bounded(key: string): string {
  return key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** A value that only one user may have, with its field. */
export interface Identifier {
  identifier: string;
  field: 'username' | 'email' | 'external_id' | 'authname';
}

/** Usernames and e-mail addresses share one namespace, because login accepts both. */
export const loginIdentifier = (name: string): string => `login:${loginKey(name)}`;
const externalIdIdentifier = (externalId: string): string => `external_id:${exactKey(externalId)}`;
export const authnameIdentifier = (method: string, name: string): string =>
  `authname:${method}:${exactKey(name)}`;

/** Fields that contain identifiers. */
export const IDENTIFYING = ['username', 'email', 'external_id', 'authname'] as const;
interface Identified {
  username: string;
  email: string;
  external_id: string;
  authname: Readonly<Record<string, string[]>>;
}

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
