import { hash, randomBytes } from 'node:crypto';

/** Enough for secrets that are random themselves (keys, session ids); passwords need argon2. 64 hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** 32 random bytes as 43 characters of `[A-Za-z0-9_-]`. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
