import { isEmail, isURL } from 'class-validator';
import { domainToUnicode } from 'node:url';
import { invisibleIn, isCleanText } from '../../platform/common/text.js';
import { MAX_PASSWORD } from '../../platform/common/secret-rules.js';

/** Longest texts, in characters: the limits of input, columns and answers (interface §3). */
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
  password: MAX_PASSWORD,
} as const;

/** Most members of a list or an object. */
export const MOST = { roles: 32, methods: 8, namesOfMethod: 20 } as const;

export const STATUSES = ['Active', 'Blocked'] as const;
export type Status = (typeof STATUSES)[number];

export const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
export type Network = (typeof NETWORKS)[number];

/** Syntax only; whether a top-level domain is required is a setting (`user-rules.ts`). */
export function isEmailAddress(text: string): boolean {
  return isEmail(text, { require_tld: false, ignore_max_length: true });
}

/** The part before the `@`. */
export function localPart(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

export function hasTopLevelDomain(email: string): boolean {
  return isEmail(email, { ignore_max_length: true });
}

/**
 * What must be written out. Without it the WHATWG rules find a host in a path (`http:///a.png`); they also take `\\` for
 * `/`, leave out tabs and newlines, and forget credentials that are empty (`http://:@example.org`), so that a URL would not
 * lead to where it seems to.
 */
const WITH_HOST = /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i;
/** Characters of a name in the DNS (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;
/** A label whose punycode is invalid. Node.js 22 refuses such a URL by itself, and 24 does not. */
const UNDECODED = /(?:^|\.)xn--/;

/**
 * A URL as the WHATWG rules parse it, the form in which it is stored: scheme and host in small letters, punycode,
 * percent-encoding, dots resolved. Text that is no URL of ours stays as it is, for `isHttpUrl` to refuse.
 */
export function parsedUrl(text: string): string {
  if (text.length > MAX.url || !WITH_HOST.test(text) || !isCleanText(text) || invisibleIn(text) !== undefined)
    return text;
  return hrefOf(text)?.href ?? text;
}

/**
 * Whether a parsed URL is absolute and http(s), with a host (of an intranet too: `http://intranet/a.png`), a port that exists,
 * and without credentials, which everybody could read.
 */
export function isHttpUrl(text: string): boolean {
  const url = WITH_HOST.test(text) ? hrefOf(text) : undefined;
  if (!url || url.hostname.length > MAX_HOST) return false;
  if (UNDECODED.test(domainToUnicode(url.hostname))) return false;
  return isURL(text, { protocols: ['http', 'https'], require_protocol: true, require_tld: false });
}

function hrefOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Method → login names of that method. */
export type Authname = Record<string, string[]>;

/** Network → URL; a network without a URL is left out. */
export type SocialMedia = Partial<Record<Network, string>>;

/** What only identity providers keep of a user: attribute → JSON value, never null nor empty. Nothing is computed from it. */
export type Attributes = Readonly<Record<string, unknown>>;

/** `managed_by` of users that an identity provider manages; no data set of an import has this name. */
export const MANAGED_BY_SCIM = 'scim';
