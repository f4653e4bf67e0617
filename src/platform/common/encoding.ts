import { TextDecoder } from 'node:util';

/** Returns the standard name of an encoding. `x-user-defined` is not one that a file has, and Node.js 22 lacks it. */
export function findEncoding(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}
