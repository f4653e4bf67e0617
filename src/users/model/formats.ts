import { isEmail, isURL } from 'class-validator';
import { MAX_PASSWORD } from '../../common/secret-rules.js';

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

/** Absolute http(s) URL; hosts of an intranet (`http://localhost`, `http://intranet/a.png`) included. */
export function isHttpUrl(text: string): boolean {
  return isURL(text, { protocols: ['http', 'https'], require_protocol: true, require_tld: false });
}

/** Method → login names of that method. */
export type Authname = Record<string, string[]>;

/** Network → URL; a network without a URL is left out. */
export type SocialMedia = Partial<Record<Network, string>>;
