import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { createInterface } from 'node:readline/promises';

/** Characters that are not mistaken for one another; 32 of them, so that a byte gives each one as often. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const OF_A_GROUP = 4;
/** 120 bits. */
const MIN_GROUPS = 6;

/** A random password in groups, such as `h7qm-x3vb`. @param length characters at the least. */
export function newPassword(length: number): string {
  const groups = Math.max(MIN_GROUPS, Math.ceil((length + 1) / (OF_A_GROUP + 1)));
  const letters = Array.from(
    randomBytes(groups * OF_A_GROUP),
    (byte) => ALPHABET[byte % ALPHABET.length] ?? '',
  );
  return Array.from({ length: groups }, (_, n) =>
    letters.slice(n * OF_A_GROUP, (n + 1) * OF_A_GROUP).join(''),
  ).join('-');
}

/** The first line of standard input; a terminal does not show what is typed. @throws Error for none. */
export async function readSecret(): Promise<string> {
  const { stdin } = process;
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  if (stdin.isTTY) process.stderr.write('New password (it is not shown): ');
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY });
  const line = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => {
      resolve('');
    });
  });
  lines.close();
  if (stdin.isTTY) process.stderr.write('\n');
  if (line === '') throw new Error('Standard input has no password.');
  return line;
}
