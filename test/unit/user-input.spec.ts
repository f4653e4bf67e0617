import { describe, expect, test } from '@jest/globals';
import { createEmptyUser, validateChange } from '../../src/users/rules/user-rules.js';
import { type InputClass, fieldsOf } from '../../src/platform/common/fields.js';
import { ChangedUserInput, NewUserInput, UserInput } from '../../src/users/rules/user.input.js';
import {
  EXTRA_ROLES,
  expectRefused,
  expectStored,
  faultsOf,
  LIMITS,
  LINES,
  SETTINGS,
  TEXTS,
} from '../support/data/user-fields.js';

/** Tests which values of user fields are refused and how valid values are stored, for API, SCIM and imports. */

describe('a wrong type', () => {
  const OTHERS = [5, 0, -0, 1e308, true, false, ['x'], [], {}, { a: 'x' }, { length: 3 }];
  /** Objects that break a generic transformer. */
  const HOSTILE = [
    '{"constructor":"x"}',
    '{"constructor":{"name":"Array","prototype":{}},"then":"x","toJSON":1}',
    '{"__proto__":1}',
    '{"__proto__":{"length":1}}',
    '[{"constructor":1}]',
    '[[[]]]',
  ].map((json): unknown => JSON.parse(json));

  test.each([...LINES, 'email', 'status', 'user_avatar', 'manager_uuid', 'about_me', 'password'])(
    'is refused for the text field %s',
    (field) => {
      for (const value of [...OTHERS, ...HOSTILE])
        expectRefused(field, value, 'invalid_type', 'must be a string');
    },
  );
  test.each(['hide_email', 'hide_phone_numbers'])('is refused for the boolean field %s', (field) => {
    for (const value of ['true', 'false', '', 1, 0, [true], { a: 1 }, ...HOSTILE])
      expectRefused(field, value, 'invalid_type', 'must be a boolean');
  });
  const roles = ['Editor', 5, true, { 0: 'Editor' }, [5], [null], ['Editor', ['Author']], [{}], ...HOSTILE];
  test.each(roles)('is refused for the field roles: %j', (value) => {
    expectRefused('roles', value, 'invalid_type', 'must be an array of strings');
  });
  test.each([
    ...['x', 5, false, ['x'], { saml: 'x' }, { saml: [5] }, { saml: [null] }, { saml: { 0: 'x' } }],
    ...[{ saml: [['x']] }, ...HOSTILE],
  ])('is refused for the field authname: %j', (value) => {
    expectRefused('authname', value, 'invalid_type', 'must be an object of arrays of strings');
  });
  test.each(['https://example.org', 5, ['https://example.org']])(
    'is refused for the field social_media: %j',
    (value) => {
      expectRefused('social_media', value, 'invalid_type', 'must be an object of strings');
    },
  );
  test.each([5, ['https://example.org'], {}])('is refused for a link in social_media: %j', (value) => {
    expectRefused('social_media', { linkedin: value }, 'invalid_type', 'must be an object of strings');
  });
});

describe('an empty value', () => {
  test.each(['username', 'email', 'status'])('is refused for the field %s', (field) => {
    for (const value of [null, '', ' ', '\u00a0\u3000'])
      expectRefused(field, value, 'blank', 'must not be empty');
  });
  test.each([...LINES.filter((field) => field !== 'username'), 'about_me', 'user_avatar', 'manager_uuid'])(
    'clears the text field %s',
    (field) => {
      for (const value of [null, '', '  ', '\u00a0']) expectStored(field, value, null);
    },
  );
  test.each([
    ['password', ''],
    ['roles', []],
    ['authname', {}],
    ['social_media', {}],
  ])('clears the field %s: null or %j', (field, empty) => {
    for (const value of [null, empty]) expectStored(field, value, null);
  });
  test.each(['hide_email', 'hide_phone_numbers'])('clears the boolean field %s', (field) => {
    expectStored(field, null, null);
  });
  test('is kept inside authname and social_media', () => {
    expectStored('authname', { saml: [] }, { saml: [] });
    expectStored('social_media', { twitter: null, linkedin: ' ' }, { twitter: '', linkedin: '' });
  });
});

test('a new user needs a username and an email', () => {
  expect(faultsOf(NewUserInput, { username: undefined, email: undefined })).toEqual([
    { field: 'username', code: 'required', message: 'is required' },
    { field: 'email', code: 'required', message: 'is required' },
  ]);
  expect(faultsOf(ChangedUserInput, {})).toEqual([]);
});

describe('length limits', () => {
  const CHARACTERS = {
    'ASCII characters': 'x',
    'three-byte characters': '語',
    emoji: '💥',
    'characters outside the BMP': '𠀀',
    'letters that expand when folded': 'ﷺ',
  };
  describe.each(Object.entries(CHARACTERS))('for %s', (_, char) => {
    test.each(LIMITS)('%s has at most %d characters', (field, max) => {
      expectStored(field, char.repeat(max), char.repeat(max));
      for (const length of [max + 1, 5 * max])
        expectRefused(field, char.repeat(length), 'too_long', `may have at most ${max} characters`);
    });
    test('an authname has at most 255 characters', () => {
      const message =
        'must contain at most 8 methods. Each method may have at most 20 names, and each name at most 255 characters';
      expectStored('authname', { saml: [char.repeat(255)] }, { saml: [char.repeat(255)] });
      expectRefused('authname', { saml: [char.repeat(256)] }, 'too_long', message);
    });
  });

  test('apply after trimming and Unicode normalization', () => {
    expectStored('phone', ` ${'x'.repeat(64)} `, 'x'.repeat(64));
    expectStored('mobile', 'e\u0301'.repeat(64), 'é'.repeat(64));
  });
  test('allow an email of at most 254 characters', () => {
    const domain = `${`${'d'.repeat(60)}.`.repeat(3)}example.org`;
    const email = (length: number): string => `${'l'.repeat(length - domain.length - 1)}@${domain}`;
    expectStored('email', email(254), email(254));
    expectRefused('email', email(255), 'too_long', 'may have at most 254 characters');
  });
  test.each(['p', 'é', 'ö'])('allow at most 64 letters %s before the @', (char) => {
    const email = (length: number): string => `${char.repeat(length)}@example.org`;
    expectStored('email', email(64), email(64));
    expectRefused('email', email(65), 'too_long', 'must have at most 64 characters before the @');
  });
  test('allow a URL of at most 2,048 characters', () => {
    const url = (length: number): string => 'https://example.org/'.padEnd(length, 'x');
    expectStored('user_avatar', url(2048), url(2048));
    expectRefused('user_avatar', url(2049), 'too_long', 'may have at most 2048 characters');
    expectStored('social_media', { linkedin: url(2048) }, { linkedin: url(2048) });
    const message = 'must contain URLs of at most 2048 characters';
    expectRefused('social_media', { linkedin: url(2049) }, 'too_long', message);
  });
});

describe('list limits', () => {
  const methods = (count: number): Record<string, string[]> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m-${index}`, ['x']]));
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
  const TOO_MANY =
    'must contain at most 8 methods. Each method may have at most 20 names, and each name at most 255 characters';

  test('allow at most 32 roles', () => {
    expectStored('roles', EXTRA_ROLES.slice(0, 32), EXTRA_ROLES.slice(0, 32));
    expectRefused('roles', EXTRA_ROLES.slice(0, 33), 'too_long', 'must contain at most 32 roles');
  });
  test('allow 8 methods of 20 names each in authname', () => {
    expectStored('authname', methods(8), methods(8));
    expectRefused('authname', methods(9), 'too_long', TOO_MANY);
    expectStored('authname', { saml: names(20) }, { saml: names(20) });
    expectRefused('authname', { saml: names(21) }, 'too_long', TOO_MANY);
  });
  test('count the methods of authname after the change', () => {
    const user = { ...createEmptyUser('u', 't'), authname: methods(8) };
    const added = { authname: { other: ['x'] } };
    const faultsIn = (value: UserInput) => validateChange(user, { value, errors: [] }, SETTINGS).errors;
    expect(faultsIn(added)).toEqual([
      { field: 'authname', code: 'too_long', message: 'must contain at most 8 methods' },
    ]);
    expect(faultsIn({ authname: { ...added.authname, 'm-0': [] } })).toEqual([]);
  });
});

describe('an unknown field', () => {
  test.each(['nickname', 'Username', 'password_hash', 'managed_since', 'toString', '', '\ud83d'])(
    'is refused: %j',
    (key) => {
      expectRefused(key, 'x', 'unknown_field', 'is not a field');
    },
  );
  test('is refused: "__proto__"', () => {
    const raw = JSON.parse('{"__proto__": {"status": "Blocked"}}') as Record<string, unknown>;
    expect(faultsOf(ChangedUserInput, raw)).toEqual([
      { field: '__proto__', code: 'unknown_field', message: 'is not a field' },
    ]);
  });
  test.each(['instagram', 'Facebook', 'constructor', 'face\0book'])('is refused: social_media %j', (key) => {
    const message = `must contain only facebook, linkedin, twitter, not ${key}`;
    expectRefused('social_media', { [key]: 'https://example.org/x' }, 'unknown_field', message);
  });
  test('is refused: social_media "__proto__"', () => {
    const message = 'must contain only facebook, linkedin, twitter, not __proto__';
    const links: unknown = JSON.parse('{"__proto__": "https://example.org/x"}');
    expectRefused('social_media', links, 'unknown_field', message);
  });
  test('of social_media is truncated in the error', () => {
    const networks = { instagram: '', linkedin: '', ['x'.repeat(10_000)]: '' };
    const message = `must contain only facebook, linkedin, twitter, not instagram, ${'x'.repeat(189)}`;
    expectRefused('social_media', networks, 'unknown_field', message);
  });
});

test.each<[string, InputClass<object>, string[]]>([
  ['refused in a new user', NewUserInput, []],
  [
    'ignored in a change',
    ChangedUserInput,
    ['uuid', 'created', 'updated', 'last_access', 'attributes', 'group_roles'],
  ],
])('read-only fields are %s', (_, type, readOnly) => {
  for (const field of ['uuid', 'created', 'updated', 'last_access', 'attributes', 'group_roles'])
    expect([field, faultsOf(type, { [field]: 5 }).length]).toEqual([field, readOnly.includes(field) ? 0 : 1]);
});

test('user-input.spec.ts and user-text.spec.ts cover every field of a user', () => {
  const others = ['status', 'roles', 'password', 'hide_email', 'hide_phone_numbers'];
  expect([...Object.keys(TEXTS), ...others].sort()).toEqual([...fieldsOf(UserInput)].sort());
});
