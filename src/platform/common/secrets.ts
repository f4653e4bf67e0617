import { hash, randomBytes } from 'node:crypto';

/** Enough for secrets that are random themselves (keys, session ids); passwords need argon2. 64 hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** 32 random bytes as 43 characters of `[A-Za-z0-9_-]`. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** An API key (`makeApiKey`), also one that is cut, mistyped or in capitals. Its public id is no secret. */
const KEY = /rollcall_([0-9a-f]{12})_[\w-]+/gi;
/** As many characters in a row as a random token (`randomToken`) has: a session, or the secret part of a key. */
const LONG_RUN = /(?<![\w-])[\w-]{43}/;
/**
 * A long run with both small letters and capitals. All tokens but one in ten thousand millions have both. Words of a path
 * and digests do not.
 */
const TOKEN = /(?<![\w-])(?=[\w-]{43})(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]+/g;
/** A character of a token that is escaped, perhaps more than once, although none has to be (RFC 3986, section 2.3). */
const ESCAPED = /%(?:25)*(2d|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/gi;

/**
 * A text in which nothing looks like a credential of this service, however it got there: as a name at a login, in a URL, in the
 * name of a file. For what is written where others read it: the log, the audit, answers with an error.
 */
export function withoutSecrets(text: string): string {
  return masked(text, (plain) => plain.replace(KEY, MASKED_KEY).replace(TOKEN, '***'));
}

/**
 * As `withoutSecrets`, for API keys alone. For values that may be as random as a token and mean something else, such as the
 * identifiers of an identity provider.
 */
export function withoutKeys(text: string): string {
  return masked(text, (plain) => plain.replace(KEY, MASKED_KEY));
}

/** Whether a text holds something that looks like a credential. */
export const holdsSecret = (text: string): boolean => withoutSecrets(text) !== text;

const MASKED_KEY = 'rollcall_$1_***';

function masked(text: string, mask: (plain: string) => string): string {
  const plain = unescaped(text);
  if (!plain.includes('rollcall_') && !LONG_RUN.test(plain)) return text; // nearly every line of the log
  const clean = mask(plain);
  return clean === plain ? text : clean;
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
