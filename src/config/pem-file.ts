import { readFileSync } from 'node:fs';
import { EnvError } from './env.js';

/**
 * The file of certificates or of a key that a setting names.
 * @throws EnvError naming the setting where it cannot be read.
 */
export function readPemFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new EnvError(`${setting} names a file that cannot be read (${code}).`);
  }
}
