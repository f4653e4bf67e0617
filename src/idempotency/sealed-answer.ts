import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SentAnswer } from '../platform/http/error.filter.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A MAC of the request: equal for equal requests with the same key. Only someone who knows the key can compute it. */
export function requestMac(key: string, request: unknown): string {
  return createHmac('sha256', key).update(JSON.stringify(request)).digest('hex');
}

/**
 * The answer as only the holder of the client's `Idempotency-Key` can read it (ADR 16): AES-256-GCM under a key derived
 * from it (RFC 5869). An answer may hold a secret that is shown once, and personal data.
 * @param id the row, to which the answer is bound.
 */
export function seal(answer: SentAnswer, key: string, id: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, derived(key), nonce).setAAD(Buffer.from(id));
  const sealed = [cipher.update(JSON.stringify(answer), 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64');
}

/** @throws Error where the answer was not sealed with this key for this row. */
export function unseal(text: string, key: string, id: string): SentAnswer {
  const bytes = Buffer.from(text, 'base64');
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const cipher = createDecipheriv(CIPHER, derived(key), bytes.subarray(0, NONCE_BYTES)).setAAD(
    Buffer.from(id),
  );
  cipher.setAuthTag(tag);
  const sealed = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  const answer = Buffer.concat([cipher.update(sealed), cipher.final()]).toString('utf8');
  return JSON.parse(answer) as SentAnswer; // the tag shows that `seal` has written it
}

/** Not slow: the keys are random, or ought to be. */
const derived = (key: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', 'rollcall idempotent answer', 32));
