import { expect } from '@jest/globals';
import { RoleCatalogue } from '../../../src/access/roles.js';
import type { FieldCode, FieldError } from '../../../src/platform/common/errors.js';
import type { InputClass } from '../../../src/platform/common/fields.js';
import { readInput } from '../../../src/platform/input/read-input.js';
import { applyConfiguredRules } from '../../../src/users/rules/user-rules.js';
import type { UserSettings } from '../../../src/users/rules/user-settings.js';
import { ChangedUserInput, NewUserInput, type UserInput } from '../../../src/users/rules/user.input.js';

export const EXTRA_ROLES = Array.from({ length: 40 }, (_, index) => `Extra ${index + 10}`);
export const DEFAULT_AVATAR = 'https://rollcall.example.org/assets/default-avatar.svg';
export const SETTINGS: UserSettings = {
  roles: new RoleCatalogue(EXTRA_ROLES),
  emailRequiresTld: true,
  defaultAvatar: DEFAULT_AVATAR,
};

/** Text fields with their maximum length in characters. */
export const LIMITS: [field: string, max: number][] = [
  ['username', 254],
  ['external_id', 255],
  ['phone', 64],
  ['mobile', 64],
  ['firstname', 255],
  ['middle_name', 255],
  ['surname', 255],
  ['known_as', 255],
  ['about_me', 10_000],
];
/** Text fields that allow only one line. */
export const LINES = LIMITS.map(([field]) => field).filter((field) => field !== 'about_me');

/** Functions that put a text into a value, for each field with free text. */
export const TEXTS: Record<string, (text: string) => unknown> = {
  ...Object.fromEntries(LIMITS.map(([field]) => [field, (text: string) => text])),
  email: (text) => `${text}@example.org`,
  user_avatar: (text) => `https://example.org/${text}`,
  authname: (text) => ({ saml: ['x', text] }),
  social_media: (text) => ({ twitter: `https://example.org/${text}` }),
  manager_uuid: (text) => text,
};

const VALID = { username: 'jane', email: 'jane@example.org' };

/** Returns every error of an input, including errors of the configured rules. */
export function faultsOf(type: InputClass<UserInput>, raw: Record<string, unknown>): FieldError[] {
  const { value, errors } = readInput(type, type === NewUserInput ? { ...VALID, ...raw } : raw);
  return [...errors, ...applyConfiguredRules(value, errors, SETTINGS).errors];
}

/** Expects the same error for a new user and for a change. */
export function expectRefused(field: string, value: unknown, code: FieldCode, message: string): void {
  for (const type of [NewUserInput, ChangedUserInput])
    expect({ value, errors: faultsOf(type, { [field]: value }) }).toEqual({
      value,
      errors: [{ field, code, message }],
    });
}

/** Expects that a value is accepted and stored in this form. */
export function expectStored(field: string, value: unknown, stored: unknown): void {
  const { value: sent, errors } = readInput(ChangedUserInput, { [field]: value });
  const { input, errors: more } = applyConfiguredRules(sent, errors, SETTINGS);
  const faults = [...errors, ...more];
  expect({ value, faults, stored: new Map<string, unknown>(Object.entries(input)).get(field) }).toEqual({
    value,
    faults: [],
    stored,
  });
}
