import { sha256 } from '../../platform/common/secrets.js';
import { foldCase, foldText, toNormalForm, truncate } from '../../platform/common/text.js';

/** Maximum length of a comparison key and of the columns that store such keys, in characters. */
const MAX_KEY = 255;

/**
 * Computes the comparison key of a username or e-mail address (interface §3): NFKC, trimmed, case-folded, with
 * collapsed white space. Accents are kept, so `José` and `Jose` are different users.
 */
export function toLoginKey(text: string): string {
  return hashLongKey(toFullLoginKey(text));
}

/**
 * Computes the key of an attribute: a login key, truncated to the length of the column. Different values can have the
 * same key, so callers must also compare the values.
 */
export function toAttributeKey(text: string): string {
  return truncate(toFullLoginKey(text.toWellFormed().replaceAll('\0', '')), MAX_KEY);
}

/** Computes a login key of any length, for comparison with a part of another text. */
export function toFullLoginKey(text: string): string {
  const collapsed = toNormalForm(text, 'NFKC').trim().replace(/\s+/gu, ' ');
  return toNormalForm(foldCase(collapsed), 'NFKC');
}

/** Computes the comparison key of an external id or authname: normalized to NFC and trimmed, with its case kept. */
export function toExactKey(text: string): string {
  return hashLongKey(toNormalForm(text, 'NFC').trim());
}

/** Returns the hash by which the last owner of a username is recognized, or an empty string for no external id. */
export const toOwnerHash = (externalId: string): string =>
  externalId.trim() === '' ? '' : sha256(toExactKey(externalId));

export function toNameSortKey(text: string): string {
  return truncate(foldText(text), MAX_KEY);
}

/**
 * Replaces a key that is too long for its column by a hash. Normalization can make a valid text too long: `ﬃ` becomes
 * `ffi`.
 */
function hashLongKey(key: string): string {
  return key.length <= MAX_KEY ? key : `sha256:${sha256(key)}`;
}

/** A value that only one user may have, and the field that contains it. */
export interface Identifier {
  identifier: string;
  field: 'username' | 'email' | 'external_id' | 'authname';
}

/**
 * Creates the identifier for a username or an e-mail address. Both share one namespace, because a login accepts both.
 */
export const toLoginIdentifier = (name: string): string => `login:${toLoginKey(name)}`;
const toExternalIdIdentifier = (externalId: string): string => `external_id:${toExactKey(externalId)}`;
export const toAuthnameIdentifier = (method: string, name: string): string =>
  `authname:${method}:${toExactKey(name)}`;

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
