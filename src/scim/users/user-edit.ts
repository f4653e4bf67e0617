import type { FieldError } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import type { ValidatedChange } from '../../users/rules/user-rules.js';
import type { UserChanges } from '../../users/user-changes.service.js';
import { NewUserInput, UserInput } from '../../users/rules/user.input.js';
import type { User } from '../../users/model/user.js';
import type { ScimObject, ScimValue } from '../protocol/attribute.js';
import { scimNameOf, toFields } from './user.mapping.js';
import type { Wanted } from './user-requests.js';

/** All attributes of a user together, as JSON. */
const MAX_ATTRIBUTES_BYTES = 32 * 1024;

/** What a request changes of a user: the fields that differ, in the form of the API, and what is kept beside them. */
export interface Edit {
  input: JsonObject;
  attributes: Record<string, ScimValue | null>;
  /** Undefined where it stays. */
  manager: string | null | undefined;
}

/** Returns the difference between a user and what a request wants it to be. Equal values are neither written nor validated. */
export function editOf(current: ScimObject, { resource, password }: Wanted): Edit {
  const [before, after] = [toFields(current), toFields(resource)];
  const input = differing(before.input, after.input);
  for (const field of ['authname', 'social_media'] as const) {
    if (input[field] !== undefined && input[field] !== null)
      input[field] = withRemovals(before.input[field], input[field], field);
  }
  if (password !== undefined) input['password'] = password;
  return {
    input,
    attributes: differing(before.attributes, after.attributes),
    manager: before.manager === after.manager ? undefined : after.manager,
  };
}

/** The API replaces the members that are named: those that are gone are named empty. */
function withRemovals(before: unknown, after: unknown, field: 'authname' | 'social_media'): JsonObject {
  const old = Object.keys(before ?? {}).map((name) => [name, field === 'authname' ? [] : '']);
  return { ...Object.fromEntries(old), ...Object(after) } as JsonObject; // both are objects
}

function differing<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>) {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(before[name] ?? null, value ?? null)),
  );
}

/** Nearly all values are texts: only others need their form. */
function isSame(before: unknown, after: unknown): boolean {
  if (typeof before !== 'object' || typeof after !== 'object') return before === after;
  return before === after || canonical(before) === canonical(after);
}

/** JSON whose members are in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/**
 * Validates a change by the rules of the API.
 * @param current the user before it. A new user has no fields.
 * @param wrong errors about what suits no attribute. They replace other errors of the same attribute.
 * @returns the change with its errors by the names of SCIM.
 */
export function validateEdit(
  edit: Edit,
  current: User,
  isNew: boolean,
  wrong: readonly FieldError[],
  changes: UserChanges,
): ValidatedChange<UserInput> {
  const type = isNew ? NewUserInput : UserInput;
  const change = changes.validate(current, readInput<UserInput>(type, edit.input));
  const known = new Set(wrong.map(({ field }) => topOf(field)));
  return {
    ...change,
    errors: [
      ...wrong,
      ...change.errors.map(toScim).filter(({ field }) => !known.has(topOf(field))),
      ...sizeErrors({ ...current.attributes, ...edit.attributes }),
    ],
  };
}

const toScim = (error: FieldError): FieldError => ({ ...error, field: scimNameOf(error.field) });

/** The attribute that a path leads into: an extension's is behind the last colon. */
function topOf(path: string): string {
  const at = path.lastIndexOf(':') + 1;
  return path.slice(0, at) + (/^[^.[]+/.exec(path.slice(at))?.[0] ?? '');
}

function sizeErrors(attributes: object): FieldError[] {
  if (Buffer.byteLength(JSON.stringify(attributes)) <= MAX_ATTRIBUTES_BYTES) return [];
  const message = `may take at most ${MAX_ATTRIBUTES_BYTES / 1024} KiB together`;
  return [{ field: 'the attributes that are kept as they were sent', code: 'too_long', message }];
}
