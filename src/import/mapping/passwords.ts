import { headerKey } from '../file/columns.js';

const WORDS = [
  'password',
  'passwd',
  'passwort',
  'passphrase',
  'passcode',
  'pwd',
  'kennwort',
  'motdepasse',
  'contraseña',
  'contrasena',
  'wachtwoord',
  'lösenord',
  'salasana',
  'secret',
  'hash',
];

/** Whether the cells of a column may be passwords, by its name. Rather one too many: such a column is only not read. */
export function mayHoldPassword(header: string): boolean {
  const key = headerKey(header);
  return WORDS.some((word) => key.includes(word));
}
