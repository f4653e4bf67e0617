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

export const MAX_ITEMS = { roles: 32, methods: 8, namesOfMethod: 20 } as const;

export const STATUSES = ['Active', 'Blocked'] as const;
export type UserStatus = (typeof STATUSES)[number];

export const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
export type Network = (typeof NETWORKS)[number];

/** Matches common e-mail addresses with a top-level domain. class-validator takes ten times as long to check them. */
const USUAL_EMAIL = /^[a-z\d]+(?:[._-][a-z\d]+)*@[a-z\d]+(?:[.-][a-z\d]+)*\.[a-z]{2,}$/i;

/**
 * Returns true for an e-mail address with valid syntax. Does not require a top-level domain (see `EMAIL_REQUIRE_TLD`).
 */
export function isEmailAddress(text: string): boolean {
  return USUAL_EMAIL.test(text) || isEmail(text, { require_tld: false, ignore_max_length: true });
}

export function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

export function hasTopLevelDomain(email: string): boolean {
  return USUAL_EMAIL.test(email) || isEmail(email, { ignore_max_length: true });
}

/**
 * Matches a URL with an explicit host and without backslashes and credentials. The WHATWG parser alone is too lenient:
 * it accepts `http:///a.png`, replaces `\` by `/`, and removes empty credentials (`http://:@example.org`).
 */
const WITH_HOST = /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i;
/** Maximum length of a DNS name, in characters (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;
/**
 * A host name label that is still encoded because its punycode is invalid. Node.js 24 accepts URLs with such labels.
 */
const UNDECODED_LABEL = /(?:^|\.)xn--/;

/** Normalizes a URL by the WHATWG rules. Returns an unsupported URL unchanged, which `isHttpUrl` then rejects. */
export function normalizeUrl(url: string): string {
  if (url.length > MAX.url || !WITH_HOST.test(url) || !isCleanText(url) || findInvisible(url) !== undefined)
    return url;
  return URL.parse(url)?.href ?? url;
}

/**
 * Returns true for an absolute http or https URL with a host, a valid port and no credentials. The host may lack a
 * top-level domain, as is common in intranets.
 */
export function isHttpUrl(text: string): boolean {
  const url = WITH_HOST.test(text) ? URL.parse(text) : null;
  if (!url || url.hostname.length > MAX_HOST) return false;
  if (UNDECODED_LABEL.test(domainToUnicode(url.hostname))) return false;
  return isURL(text, { protocols: ['http', 'https'], require_protocol: true, require_tld: false });
}

export type Authname = Record<string, string[]>;

/** Maps each social network to the URL of the user's profile there. Omits networks without a URL. */
export type SocialMedia = Partial<Record<Network, string>>;

/** Attributes of a user that only identity providers use, by name. Values are neither null nor empty. */
export type Attributes = Readonly<Record<string, unknown>>;

/** Value of `managed_by` for users of an identity provider. It is reserved, so data sets cannot have this name. */
export const MANAGED_BY_SCIM = 'scim';
