import { crc32 } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import { randomToken } from '../common/secret.js';

const PREFIX = 'rollcall';
const FORM = /^rollcall_[0-9a-f]{12}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;

/**
 * `rollcall_<public id>_<32 random bytes>_<checksum>`: a form that secret scanners can find and verify offline. The
 * public id is the end of the key's id, so that whoever finds a key can tell which one to revoke.
 */
export function makeApiKey(id = uuidv7()): string {
  const body = `${PREFIX}_${id.slice(-12)}_${randomToken()}`;
  return `${body}_${checksum(body)}`;
}

/** A key of our form with a wrong checksum: most likely a typing error. */
export function isMistyped(key: string): boolean {
  const cut = key.lastIndexOf('_');
  return FORM.test(key) && key.slice(cut + 1) !== checksum(key.slice(0, cut));
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
