import { type FieldError, validationFailed } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import { type RuleSettings, type UserPatch, brokenRules, settle } from '../../users/rules/user-rules.js';
import { NewUserInput, UserInput } from '../../users/rules/user.input.js';
import type { User } from '../../users/model/user.js';
import type { ScimValue } from '../protocol/json.js';
import { type Fields, scimNameOf } from './user.mapping.js';

/** All attributes of a user together, as JSON. */
const MAX_ATTRIBUTES_BYTES = 32 * 1024;

/** What a request changes of a user: the fields that differ, in the form of the API, and what is kept beside them. */
export interface Edit {
  input: JsonObject;
  attributes: Record<string, ScimValue | null>;
  /** Undefined where it stays. */
  manager: string | null | undefined;
}

/** The difference between two states of a user. What is equal is not written, and so not judged. */
export function editOf(before: Fields, after: Fields): Edit {
  const input = differing(before.input, after.input);
  for (const field of ['authname', 'social_media'] as const) {
    if (input[field] !== undefined && input[field] !== null)
      input[field] = withRemovals(before.input[field], input[field], field);
  }
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

/** A change that was read, with every rule of the API that it breaks, by the names of SCIM. */
export interface ReadEdit {
  patch: UserInput;
  errors: FieldError[];
}

/**
 * Judges a change by the rules of the API.
 * @param current the user before it; a new one has no fields.
 * @param wrong what the request has that suits no attribute: nothing else is said of such.
 */
export function readEdit(
  edit: Edit,
  current: User,
  isNew: boolean,
  wrong: readonly FieldError[],
  settings: RuleSettings,
): ReadEdit {
  const type = isNew ? NewUserInput : UserInput;
  const { value, errors } = readInput<UserInput>(type, edit.input);
  errors.push(...settle(value, errors, settings));
  const named = brokenRules(value, errors, current).map(toScim);
  const known = new Set(wrong.map(({ field }) => topOf(field)));
  return {
    patch: value,
    errors: [
      ...wrong,
      ...named.filter(({ field }) => !known.has(topOf(field))),
      ...sizeErrors({ ...current.attributes, ...edit.attributes }),
    ],
  };
}

const toScim = (error: FieldError): FieldError => ({ ...error, field: scimNameOf(error.field) });

/** @throws ProblemError `validation_failed` naming all of them. */
export function assertNone(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw validationFailed([...errors]);
}

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

/** The patch for the writer, without what a request must not set so. */
export function toPatch(input: UserInput, attributes: Edit['attributes']): UserPatch {
  const { password: _, ...patch } = input;
  return Object.keys(attributes).length === 0 ? patch : { ...patch, attributes };
}
