import { hash, randomBytes } from 'node:crypto';

/**
 * Returns the SHA-256 hash of a text as 64 hexadecimal digits. It is safe for random secrets, such as keys and session ids,
 * but passwords need argon2.
 */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Returns 32 random bytes as 43 characters of `[A-Za-z0-9_-]`. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Pattern of an API key, even if it is truncated, mistyped or in capitals. The id in a key is not secret, so it stays
 * visible.
 */
const KEY = /rollcall_([0-9a-f]{12})_[\w-]+/gi;
/**
 * Pattern of text that is as long as a random token (`createToken`), such as a session cookie or the secret part of a
 * key.
 */
const LONG_RUN = /(?<![\w-])[\w-]{43}/;
/**
 * Pattern of at least 43 token characters that include a lower-case and an upper-case letter. All but one in ten
 * billion tokens include both, while path segments and digests usually contain only lower-case letters.
 */
const TOKEN = /(?<![\w-])(?=[\w-]{43})(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]+/g;
/** Pattern of a percent-encoded token character, possibly encoded more than once (RFC 3986, section 2.3). */
const ESCAPED = /%(?:25)*(2d|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/gi;

/**
 * Masks everything in a text that looks like a credential of this service. Use it for texts that other people read: log
 * entries, audit events and error responses.
 */
export function maskSecrets(text: string): string {
  return maskWith(text, (plain) => plain.replace(KEY, MASKED_KEY).replace(TOKEN, '***'));
}

/**
 * Masks only API keys, not other tokens. Use it for values that can look like a token but are not secret, such as
 * identifiers from an identity provider.
 */
export function maskKeys(text: string): string {
  return maskWith(text, (plain) => plain.replace(KEY, MASKED_KEY));
}

export const hasSecret = (text: string): boolean => maskSecrets(text) !== text;

const MASKED_KEY = 'rollcall_$1_***';

function maskWith(text: string, mask: (plain: string) => string): string {
  const plain = decodeEscapes(text);
  if (!plain.includes('rollcall_') && !LONG_RUN.test(plain)) return text; // most log lines contain nothing to mask
  const clean = mask(plain);
  return clean === plain ? text : clean;
}

function decodeEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
