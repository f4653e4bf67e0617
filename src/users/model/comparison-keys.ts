import { createHash } from 'node:crypto';
import { foldCase, fold, toNormalForm, truncate } from '../../platform/common/text.js';

/** Length of a key column, in characters. */
const MAX_KEY = 255;

/**
 * Computes the comparison key of a username or e-mail address (interface §3): NFKC, trimmed, white space collapsed,
 * case folded. Accents are significant, so `José` and `Jose` are different users.
 */
export function toLoginKey(text: string): string {
  return limitKey(toLoginForm(text));
}

/**
 * Computes the look-up key of an attribute from an identity provider: a login key, truncated to the length of the
 * column. Different texts can have the same key, so callers must also compare the texts.
 */
export function toAttributeKey(text: string): string {
  return truncate(toLoginForm(text.toWellFormed().replaceAll('\0', '')), MAX_KEY);
}

/** Computes a login key of unlimited length, so that parts of a text can be compared. */
export function toLoginForm(text: string): string {
  const collapsed = toNormalForm(text, 'NFKC').trim().replace(/\s+/gu, ' ');
  return toNormalForm(foldCase(collapsed), 'NFKC');
}

/** Computes the comparison key of an external id or authname: NFC, trimmed, case-sensitive. */
export function toExactKey(text: string): string {
  return limitKey(toNormalForm(text, 'NFC').trim());
}

/** Computes the sort key of a name. Folds case and accents. */
export function toNameSortKey(text: string): string {
  return truncate(fold(text), MAX_KEY);
}

/**
 * Replaces a key that is too long for its column with a hash. Valid texts can have such keys, because normalization can
 * lengthen a text: `ﬃ` becomes `ffi`.
 */
function limitKey(key: string): string {
  return key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** A value that only one user may have, with its field. */
export interface Identifier {
  identifier: string;
  field: 'username' | 'email' | 'external_id' | 'authname';
}

/** Usernames and e-mail addresses share one namespace, because login accepts both. */
export const toLoginIdentifier = (name: string): string => `login:${toLoginKey(name)}`;
const toExternalIdIdentifier = (externalId: string): string => `external_id:${toExactKey(externalId)}`;
export const toAuthnameIdentifier = (method: string, name: string): string =>
  `authname:${method}:${toExactKey(name)}`;

/** Fields that contain identifiers. */
export const IDENTIFYING_FIELDS = ['username', 'email', 'external_id', 'authname'] as const;
interface IdentifiedUser {
  username: string;
  email: string;
  external_id: string;
  authname: Readonly<Record<string, string[]>>;
}

export function identifiersOf(user: IdentifiedUser): Identifier[] {
  const list: Identifier[] = [
    { field: 'username', identifier: toLoginIdentifier(user.username) },
    { field: 'email', identifier: toLoginIdentifier(user.email) },
  ];
  if (user.external_id !== '') {
    list.push({ field: 'external_id', identifier: toExternalIdIdentifier(user.external_id) });
  }
  for (const [method, names] of Object.entries(user.authname)) {
    for (const name of names)
      list.push({ field: 'authname', identifier: toAuthnameIdentifier(method, name) });
  }
  return list;
}
