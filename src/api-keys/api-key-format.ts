import { crc32 } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import { randomToken } from '../platform/common/secrets.js';

const PREFIX = 'rollcall';
const FORMAT = /^rollcall_[0-9a-f]{12}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;

/**
 * Makes a key `rollcall_<public id>_<32 random bytes>_<checksum>`, which secret scanners can find and verify offline. The
 * public id is the end of the key's id: it shows which key to revoke when one is found.
 */
export function makeApiKey(id = uuidv7()): string {
  const body = `${PREFIX}_${id.slice(-12)}_${randomToken()}`;
  return `${body}_${checksum(body)}`;
}

/** Whether a key has this format but a wrong checksum, most likely because of a typing error. */
export function isMistyped(key: string): boolean {
  const end = key.lastIndexOf('_');
  return FORMAT.test(key) && key.slice(end + 1) !== checksum(key.slice(0, end));
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
