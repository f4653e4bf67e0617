import { isEmail, isURL } from 'class-validator';

/** Syntax only; whether a top-level domain is needed is a setting (`user.rules.ts`). */
export function isEmailAddress(text: string): boolean {
  return isEmail(text, { require_tld: false, ignore_max_length: true });
}

/** What stands before the `@`. */
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
