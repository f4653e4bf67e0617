import { isEmail, isURL } from 'class-validator';
import { domainToUnicode } from 'node:url';
import { findInvisible, isCleanText } from '../../platform/common/text.js';
import { MAX_PASSWORD_LENGTH } from '../../platform/common/secret-rules.js';

/** Maximum lengths of text fields, in characters. They apply to input, columns and responses (interface §3). */
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

/** Maximum numbers of items in lists and objects. */
export const MAX_ITEMS = { roles: 32, methods: 8, namesOfMethod: 20 } as const;

export const STATUSES = ['Active', 'Blocked'] as const;
export type UserStatus = (typeof STATUSES)[number];

export const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
export type Network = (typeof NETWORKS)[number];

/**
 * Returns true for an e-mail address with valid syntax. A missing top-level domain is accepted here. `user-rules.ts`
 * rejects it if `EMAIL_REQUIRE_TLD` is set.
 */
export function isEmailAddress(text: string): boolean {
  return isEmail(text, { require_tld: false, ignore_max_length: true });
}

/** Returns the part of an e-mail address before the `@`. */
export function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

export function hasTopLevelDomain(email: string): boolean {
  return isEmail(email, { ignore_max_length: true });
}

/**
 * Matches a URL with an explicit host and without backslashes and credentials. The WHATWG parser alone is too lenient:
 * it reads `http:///a.png` as a URL with a host, replaces `\` by `/`, and drops empty credentials
 * (`http://:@example.org`).
 */
const WITH_HOST = /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i;
/** Maximum length of a DNS name, in characters (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;
/**
 * A label of a host name that is still encoded after decoding, because its punycode is invalid. Node.js 24 accepts URLs
 * with such labels.
 */
const UNDECODED_LABEL = /(?:^|\.)xn--/;

/**
 * Normalizes a URL by the WHATWG rules: lower-case scheme and host, punycode, percent-encoding, resolved dot segments.
 * An unsupported URL is returned unchanged, and `isHttpUrl` then rejects it.
 */
export function normalizeUrl(url: string): string {
  if (url.length > MAX.url || !WITH_HOST.test(url) || !isCleanText(url) || findInvisible(url) !== undefined)
    return url;
  return parseUrl(url)?.href ?? url;
}

/**
 * Returns true for an absolute http or https URL with a host, a valid port and no credentials. The host may lack a
 * top-level domain, as in `http://intranet/a.png`, because this is common in intranets.
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

/** Maps each authentication method to its login names. */
export type Authname = Record<string, string[]>;

/** Maps each social network to the URL of the user's profile there. Networks without a URL are left out. */
export type SocialMedia = Partial<Record<Network, string>>;

/**
 * Attributes of a user that only identity providers use. Maps the name of each attribute to a JSON value, which is
 * neither null nor empty.
 */
export type Attributes = Readonly<Record<string, unknown>>;

/**
 * Value of `managed_by` for a user whom an identity provider manages. Data sets cannot have this name, because it is
 * reserved.
 */
export const MANAGED_BY_SCIM = 'scim';
