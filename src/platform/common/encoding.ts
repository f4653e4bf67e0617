import { TextDecoder } from 'node:util';

/** Returns the standard name of an encoding, or undefined. `x-user-defined` is left out, since Node.js 22 lacks it. */
export function findEncoding(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}
