import { randomBytes } from 'node:crypto';
import { parse, v7 as uuidv7 } from 'uuid';
import { type FieldError, ProblemError } from './errors.js';
import { MAX_SKEW_SECONDS, type DbTime, toDbTime } from './time.js';

/** Pattern of a UUID of any version and variant, because the examples of the interface use several versions. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Converts a UUID to lower case. @throws ProblemError `malformed_uuid` with the name of the path parameter. */
export function toCanonicalUuid(name: string, text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new ProblemError('malformed_uuid', `${name} must be a UUID (8-4-4-4-12 hexadecimal digits).`);
}

/** Returns an error if the id in the body differs from the id in the path. A body without an id is valid. */
export function findIdMismatch(field: 'uuid' | 'id', sent: unknown, path: string): FieldError[] {
  const isSame = typeof sent === 'string' && sent.toLowerCase() === path.toLowerCase();
  if (isSame || sent === undefined || sent === null) return [];
  return [{ field, code: 'uuid_mismatch', message: `must equal the ${field} in the path` }];
}

/** Returns the time in a UUID of version 7, in milliseconds since 1970. */
export const millisOf = (uuid: string): number => parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

export const timeOf = (uuid: string): DbTime => toDbTime(new Date(millisOf(uuid)));

/**
 * Creates a UUID of version 7 that is greater than `newest`, even if the clock was set back and the service restarted.
 * Ignores a `newest` that has no successor.
 */
export function createUuidAfter(newest: string): string {
  const [id, next] = [uuidv7(), uuidv7({ msecs: millisOf(newest) + 1 })];
  return id > next ? id : next;
}

/** Creates a UUID that follows a clock that was set back. The library would repeat the latest time it has seen. */
function createUuid(): string {
  const id = uuidv7();
  return millisOf(id) > Date.now() + MAX_SKEW_SECONDS * 1000 ? uuidv7({ msecs: Date.now() }) : id;
}

/**
 * Creates UUIDs of version 7 in ascending order. They share their random bytes, because creating random bytes is slow.
 */
export function createOrderedUuids(count: number): string[] {
  const first = createUuid();
  if (count === 1) return [first];
  const msecs = millisOf(first);
  const bytes = Buffer.from(parse(first));
  const sequence = ((bytes.readUInt16BE(6) & 0xfff) << 20) | ((bytes.readUInt32BE(8) >>> 10) & 0xfffff);
  const random = randomBytes(16);
  return Array.from({ length: count }, (_, index) =>
    index === 0 ? first : uuidv7({ msecs, random, seq: sequence + index }),
  );
}
