import { describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { generateApiKey } from '../../src/api-keys/api-keys.service.js';
import { hasSecret, createToken, maskKeys, maskSecrets } from '../../src/platform/common/secrets.js';
import { isLinear } from '../support/data/growth.js';

const escape = (text: string): string =>
  Array.from(text, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const AROUND = ['', '/', '"', '=', '.', '\\n', 'x', '_', '-', '7', 'é', '%20', '%2F', '/users/', 'Z-9_'];
const FORMS: [string, (text: string) => string][] = [
  ['in plain text', (text) => text],
  ['with percent escapes', escape],
  ['with percent escapes in capitals', (text) => escape(text).toUpperCase()],
  ['with double percent escapes', (text) => escape(text).replaceAll('%', '%25')],
  ['with triple percent escapes', (text) => escape(text).replaceAll('%', '%2525')],
  ['with some percent escapes', (text) => text.replace(/[_\-a-m]/g, escape)],
];
const secretOf = (key: string): string => key.slice('rollcall_0123456789ab_'.length, -'_01234567'.length);
/** Returns true if a text shows eight consecutive characters of a secret, with or without escapes. */
const isShown = (text: string, secret: string): boolean => {
  let plain = text;
  for (let time = 0; time < 4; time++)
    plain = plain.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((part) =>
    plain.includes(part),
  );
};

describe.each(FORMS)('a credential %s', (_, form) => {
  test.each(AROUND)('is masked next to %j', (around) => {
    for (let time = 0; time < 25; time++) {
      const key = generateApiKey();
      const token = createToken();
      const text = `${around}${form(key)}${around} ${form(token)}${around}`;
      expect([text, isShown(maskSecrets(text), secretOf(key))]).toEqual([text, false]);
      expect([text, isShown(maskSecrets(text), token)]).toEqual([text, false]);
      expect([text, isShown(maskKeys(text), secretOf(key))]).toEqual([text, false]);
      expect(maskSecrets(text)).toContain(`rollcall_${key.slice(9, 21)}_***`);
      expect(hasSecret(form(key))).toBe(true);
      expect(hasSecret(form(token))).toBe(true);
    }
  });
});

test('a session token is masked at any position', () => {
  const words = 'words of a /path, and "more": '.repeat(8);
  for (let length = 0; length < 200; length++) {
    const token = createToken();
    const text = `${words.slice(0, length)} ${token} ${words.slice(0, length % 17)}`;
    expect([text, maskSecrets(text)]).toEqual([text, text.replace(token, '***')]);
  }
});

test('a truncated or mistyped API key is masked', () => {
  for (let time = 0; time < 200; time++) {
    const key = generateApiKey();
    const cut = key.slice(0, randomInt(30, key.length));
    const mistyped = key.slice(0, 40) + key.slice(41);
    for (const text of [cut, mistyped, key.toUpperCase(), `${key}${key}`])
      expect([text, isShown(maskSecrets(text).toLowerCase(), secretOf(key).toLowerCase())]).toEqual([
        text,
        false,
      ]);
  }
});

test.each([
  '',
  'Jane Doe',
  '/api/0.3/users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10/sessions/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10',
  '/docs/swagger-ui-standalone-preset.js',
  '/api/0.3/users/a%20b%2Fc%41',
  'a'.repeat(64),
  '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
  'a-very-long-name-of-a-folder-that-people-have-given-to-it',
  'rollcall_0123456789ab',
  'at InputGuard.canActivate (file:///opt/rollcall/dist/http/input.guard.js:56:11)',
  'imports:write:hr-north_and_south',
])('the text %j without a secret is not masked', (text) => {
  expect({ secrets: maskSecrets(text), keys: maskKeys(text) }).toEqual({ secrets: text, keys: text });
  expect(hasSecret(text)).toBe(false);
});

test('only maskSecrets masks a random identifier', () => {
  const subject = createToken();
  expect(maskKeys(subject)).toBe(subject);
  expect(maskSecrets(subject)).toBe('***');
});

test('masking secrets in a JSON line keeps the JSON valid', () => {
  const fields = {
    path: `/${escape(generateApiKey())}`,
    odd: '%22%5C"\\',
    name: generateApiKey(),
    token: createToken(),
  };
  expect(Object.keys(JSON.parse(maskSecrets(JSON.stringify(fields))) as object)).toEqual(Object.keys(fields));
});

test.each(['a', 'aA', 'rollcall_', 'rollcall_0123456789ab_', '%', '%25', '%61', '-_', 'A.'])(
  'a long text of %j is searched for secrets in linear time',
  (part) => {
    const createMask = (length: number) => {
      const text = part.repeat(Math.ceil(length / part.length));
      return () => maskSecrets(text);
    };
    expect(isLinear(400_000, createMask)).toBe(true);
  },
);
