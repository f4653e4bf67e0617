import type { Command } from 'commander';
import type { InputClass } from '../../platform/common/fields.js';
import { readInput } from '../../platform/input/read-input.js';
import { PLACE_FLAGS } from './place.js';

/** The name of a field for that of a flag: `dryRun` is `dry_run`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The flags by the rules of the REST interface; ends the program on a fault. @param more what no flag says. */
export function queryOf<T extends object>(
  type: InputClass<T>,
  flags: object,
  command: Command,
  more: object = {},
): T {
  const sent = Object.entries(flags)
    .filter(([name, value]) => value !== undefined && !PLACE_FLAGS.has(name))
    .map(([name, value]) => [snakeCase(name), value] as const);
  const { value, errors } = readInput(type, { ...Object.fromEntries(sent), ...more });
  const [fault] = errors;
  if (fault) command.error(`error: option '--${fault.field.replaceAll('_', '-')}' ${fault.message}`);
  return value;
}
