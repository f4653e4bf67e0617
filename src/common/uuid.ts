import { ProblemError } from './errors.js';

/** Loose: any version and variant, as the interface's own examples need. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Lower case. @throws ProblemError `malformed_uuid` naming the path parameter. */
export function canonicalUuid(name: string, text: string): string {
  if (!isUuid(text))
    throw new ProblemError('malformed_uuid', `${name} must be a UUID (8-4-4-4-12 hexadecimal digits).`);
  return text.toLowerCase();
}
