import { isEmail, isURL } from 'class-validator';
import { domainToUnicode } from 'node:url';
import { findInvisible, isCleanText } from '../../platform/common/text.js';
import { MAX_PASSWORD_LENGTH } from '../../platform/common/secret-rules.js';

/** Largest lengths of texts, in characters, for input, columns and responses (interface §3). */
export const MAX = {
  username: 254,
  email: 254,
  localPart: 64,
  externalId: 255,
  role: 64,
  phone: 64,
  name: 255,
  authname: 255,
  url: 2048,
  aboutMe: 10_000,
  password: MAX_PASSWORD_LENGTH,
} as const;

/** Largest numbers of items in a list or an object. */
export const MAX_ITEMS = { roles: 32, methods: 8, namesOfMethod: 20 } as const;

export const STATUSES = ['Active', 'Blocked'] as const;
export type UserStatus = (typeof STATUSES)[number];

export const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
export type Network = (typeof NETWORKS)[number];

/** Returns true if the syntax is valid. The setting for top-level domains is checked in `user-rules.ts`. */
export function isEmailAddress(text: string): boolean {
  return isEmail(text, { require_tld: false, ignore_max_length: true });
}

/** Returns the part before the `@`. */
export function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

export function hasTopLevelDomain(email: string): boolean {
  return isEmail(email, { ignore_max_length: true });
}

/**
 * A URL with an explicit host, without backslashes and credentials. The WHATWG parser alone is too lenient: it reads
 * `http:///a.png` as a URL with a host, replaces `\` by `/` and drops empty credentials (`http://:@example.org`).
 */
const WITH_HOST = /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i;
/** Largest length of a DNS name, in characters (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;
/** A label that is still encoded after decoding, because its punycode is invalid. Node.js 24 accepts such a URL. */
const UNDECODED_LABEL = /(?:^|\.)xn--/;

/**
 * Normalizes a URL by the WHATWG rules: lower-case scheme and host, punycode, percent-encoding, dot segments resolved.
 * Returns an unsupported URL unchanged, so that `isHttpUrl` rejects it.
 */
export function normalizeUrl(text: string): string {
  if (
    text.length > MAX.url ||
    !WITH_HOST.test(text) ||
    !isCleanText(text) ||
    findInvisible(text) !== undefined
  )
    return text;
  return parseUrl(text)?.href ?? text;
}

/**
 * Returns true for an absolute http or https URL with a host, a valid port and no credentials. Accepts hosts of an
 * intranet, as in `http://intranet/a.png`.
 */
export function isHttpUrl(text: string): boolean {
  const url = WITH_HOST.test(text) ? parseUrl(text) : undefined;
  if (!url || url.hostname.length > MAX_HOST) return false;
  if (UNDECODED_LABEL.test(domainToUnicode(url.hostname))) return false;
  return isURL(text, { protocols: ['http', 'https'], require_protocol: true, require_tld: false });
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Authentication method → login names of that method. */
export type Authname = Record<string, string[]>;

/** Network → URL. Networks without a URL are omitted. */
export type SocialMedia = Partial<Record<Network, string>>;

/** Attributes of a user that only identity providers use: name → JSON value, which is neither null nor empty. */
export type Attributes = Readonly<Record<string, unknown>>;

/** `managed_by` of users that an identity provider manages. Reserved: no data set has this name. */
export const MANAGED_BY_SCIM = 'scim';
