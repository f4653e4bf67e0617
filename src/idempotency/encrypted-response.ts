import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { StoredResponse } from '../platform/http/error.filter.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Computes the MAC of a request, with the `Idempotency-Key` as secret. */
export function computeRequestMac(key: string, request: unknown): string {
  return createHmac('sha256', key).update(JSON.stringify(request)).digest('hex');
}

/**
 * Encrypts a response, so that only a client with its `Idempotency-Key` can read it (ADR 16). Uses AES-256-GCM with a
 * key derived from the `Idempotency-Key` (RFC 5869).
 * @param id primary key of the row that stores the response. The response can be decrypted only for this row.
 */
export function encryptResponse(response: StoredResponse, key: string, id: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(key), nonce).setAAD(Buffer.from(id));
  const encrypted = [cipher.update(JSON.stringify(response), 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
}

/** Decrypts a stored response. @throws Error if the response was not encrypted with this key for this row. */
export function decryptResponse(text: string, key: string, id: string): StoredResponse {
  const bytes = Buffer.from(text, 'base64');
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, deriveKey(key), nonce).setAAD(Buffer.from(id));
  cipher.setAuthTag(tag);
  const encrypted = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  const response = Buffer.concat([cipher.update(encrypted), cipher.final()]).toString('utf8');
  return JSON.parse(response) as StoredResponse; // the authentication tag proves that `encryptResponse` wrote this text
}

/** Derives the encryption key. A deliberately slow derivation is not needed, because clients use random keys. */
const deriveKey = (key: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', 'rollcall idempotent answer', 32));
