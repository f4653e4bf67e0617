import type { FieldError } from '../../common/errors.js';
import type { UserInput } from './user.input.js';
import type { User } from '../model/user.js';
import { passwordErrors, patched, wholeErrors } from './user-rules.js';

/**
 * All broken rules at once: `errors` of single fields, then those of the user as it would be with the good ones.
 * The API and the importer ask here, so that a value is refused alike wherever it comes from.
 */
export function brokenRules(input: UserInput, errors: readonly FieldError[], current: User): FieldError[] {
  const good = errors.length === 0 ? input : without(input, new Set(errors.map(({ field }) => field)));
  const after = patched(current, good);
  const weak = good.password ? passwordErrors(good.password, after) : [];
  return [...errors, ...wholeErrors(after), ...weak];
}

function without(input: UserInput, fields: ReadonlySet<string>): UserInput {
  return Object.fromEntries(Object.entries(input).filter(([field]) => !fields.has(field)));
}
