import { describe, expect, test } from '@jest/globals';
import { formatCodePoint } from '../../src/platform/common/text.js';
import {
  DEFAULT_AVATAR,
  expectRefused,
  expectStored,
  faultsOf,
  LINES,
  TEXTS,
} from '../support/data/user-fields.js';
import { ChangedUserInput } from '../../src/users/rules/user.input.js';

/** Tests the texts that user fields refuse: deceptive and broken characters, and invalid formats. */
const CONTROL = 'must not contain control characters or invalid Unicode';
const URL = 'must be an http or https URL with a host and without credentials';
const URLS = 'must contain http or https URLs with a host and without credentials';
const EMAIL = 'must be an e-mail address';
const UUID = 'must be a UUID';
const AUTHNAME =
  'must contain methods of 1 to 32 characters (a-z, 0-9, _ and -) and names without control characters';
/** The message of each field about a control character or broken Unicode. */
const MESSAGES: Record<string, string> = {
  ...Object.fromEntries([...LINES, 'about_me'].map((field) => [field, CONTROL])),
  email: EMAIL,
  user_avatar: CONTROL,
  authname: AUTHNAME,
  social_media: URLS,
  manager_uuid: UUID,
};

/** `invisible.spec` tests all refused characters. Here each field refuses one character of each kind. */
describe.each(Object.entries(TEXTS))('the field %s', (field, valueOf) => {
  test.each(['a\0b', 'a\u0085b', 'a\ud83db', '\udc00'])('refuses the invalid text %j', (text) => {
    expectRefused(field, valueOf(text), 'invalid_format', MESSAGES[field] ?? '');
  });
  test('refuses tabs, and newlines except in about_me', () => {
    const message = field === 'user_avatar' ? URL : MESSAGES[field];
    for (const text of field === 'about_me' ? ['a\tb'] : ['a\tb', 'a\nb'])
      expectRefused(field, valueOf(text), 'invalid_format', message ?? '');
  });
  if (field === 'about_me' || field === 'manager_uuid') return;
  test.each(['admin\u200b', 'ad\u202emin', 'ad\u200dmin', '\u3164', 'a\u{16fe4}b'])(
    'refuses the invisible character in %j',
    (text) => {
      const character = formatCodePoint(/[^ -~]/u.exec(text)?.[0] ?? '');
      const message = `must not contain the invisible character ${character}`;
      expectRefused(field, valueOf(text), 'invisible_character', message);
    },
  );
});

test.each(['علی\u200cرضا', 'ශ්\u200dරී', 'രാജന്\u200d', 'José', '東京'])('firstname %s is accepted', (name) => {
  expectStored('firstname', name, name);
});

test('about_me accepts joined emoji and refuses a text direction override', () => {
  const text = '❤\ufe0f 👩\u200d👧 soft\u00adhyphen\nsecond line';
  expectStored('about_me', text, text);
  const message = 'must not contain the invisible character U+202E';
  expectRefused('about_me', 'to \u202egro.elpmaxe', 'invisible_character', message);
});

test.each([
  ['username', '  jane   doe ', 'jane doe'],
  ['firstname', '  Jose\u0301  Luis ', 'José  Luis'],
  ['about_me', ' a\r\nb\rc ', 'a\nb\nc'],
  ['email', ' Jane@Example.org ', 'Jane@Example.org'],
  ['email', "o'x_1@a-b.münchen.example", "o'x_1@a-b.münchen.example"],
  ['status', ' Blocked ', 'Blocked'],
  ['manager_uuid', ' 019A0000-0000-7000-8000-00000000000F ', '019a0000-0000-7000-8000-00000000000f'],
  ['password', '  kept as it is  ', '  kept as it is  '],
  ['password', 'e\u0301', 'é'],
  ['roles', [' editor ', 'AUTHOR'], ['Author', 'Editor']],
  ['authname', { saml: [' jane ', 'Jose\u0301'] }, { saml: ['jane', 'José'] }],
  ['hide_email', true, true],
  ['hide_phone_numbers', false, false],
  ['user_avatar', ' HTTPS://Example.ORG:443/a b.png ', 'https://example.org/a%20b.png'],
  ['user_avatar', DEFAULT_AVATAR, null],
  ['social_media', { twitter: ' http://bücher.example ' }, { twitter: 'http://xn--bcher-kva.example/' }],
])('the field %s with the value %j is stored as %j', expectStored);

describe('the field email', () => {
  test.each([
    'x',
    '@example.org',
    'x@exa\tmple.org',
    'a\n@example.org',
    'x@example..org',
    'x.@example.org',
    'x@-example.org',
    'Jane <x@example.org>',
  ])('refuses %j', (value) => {
    expectRefused('email', value, 'invalid_format', EMAIL);
  });
  test('needs a top-level domain if EMAIL_REQUIRE_TLD is set', () => {
    expectRefused('email', 'x@intranet', 'invalid_format', `${EMAIL} with a top-level domain`);
  });
});

/** `url-form.spec` tests all forms. */
test.each(['javascript:alert(1)', '/a.png', 'http:///a.png', 'http://jane:secret@example.org/', 'x'])(
  'the URL %j is refused',
  (value) => {
    expectRefused('user_avatar', value, 'invalid_format', URL);
    expectRefused('social_media', { twitter: value }, 'invalid_format', URLS);
  },
);

test.each([
  '1',
  'g0000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-00000000000',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000-0000-0000-0000-00000000000\ud83d',
])('the manager_uuid %j is refused', (value) => {
  expectRefused('manager_uuid', value, 'invalid_format', UUID);
});

test.each(['activ', 'Deleted', 'true', 'Active\0', '\ud800'])('status %j is refused', (value) => {
  expectRefused('status', value, 'invalid_value', 'must be Active or Blocked');
});

describe('the field roles', () => {
  test.each(['Edi\0tor', 'Editor\0', '\ud800', 'Nobody', ''])('refuses the unknown role %j', (role) => {
    const message = `must contain only roles of this service, not ${role}`;
    expectRefused('roles', ['Author', role], 'unknown_role', message);
  });
  test('refuses a duplicate role in different case', () => {
    expectRefused('roles', ['Editor', 'Author', 'editor'], 'invalid_value', 'must not contain a role twice');
  });
});

describe('the field authname', () => {
  test.each(['SAML', 'sa ml', '', 'sämł', 'a.b', 'sa\0ml', 'a'.repeat(33)])('refuses method %j', (method) => {
    expectRefused('authname', { [method]: ['x'] }, 'invalid_format', AUTHNAME);
  });
  test.each([[['']], [['x', 'x']], [['x', ' x ']], [[' ']]])('refuses the names %j', (names) => {
    const message = 'must not contain an empty name or the same name twice in one method';
    expectRefused('authname', { saml: names }, 'invalid_value', message);
  });
  test('accepts methods named constructor or __proto__', () => {
    expectStored('authname', { ['m'.repeat(32)]: ['x'] }, { ['m'.repeat(32)]: ['x'] });
    expectStored('authname', { constructor: ['x'] }, { constructor: ['x'] });
    const own = JSON.parse('{"__proto__":["x"]}') as unknown;
    expect(faultsOf(ChangedUserInput, { authname: own })).toEqual([]);
  });
});

test('a password may contain any text except invalid Unicode', () => {
  for (const text of ['a\0b', 'ad\u202emin', 'a\nb', '💥']) expectStored('password', text, text);
  expectRefused('password', '12345678\ud83d', 'invalid_format', 'must not contain invalid Unicode');
});
