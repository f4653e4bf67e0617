import { TextDecoder } from 'node:util';

/**
 * Returns the standard name of an encoding, or undefined for an unknown label. `x-user-defined` counts as unknown, because
 * Node.js 22 does not support it.
 */
export function findEncoding(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}
