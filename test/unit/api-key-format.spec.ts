import { expect, test } from '@jest/globals';
import { isMistyped, generateApiKey } from '../../src/api-keys/api-keys.service.js';

test('a new API key contains 32 random bytes and a checksum', () => {
  const key = generateApiKey();
  const [, secret = ''] = /^rollcall_[0-9a-f]{12}_([A-Za-z0-9_-]{43})_[0-9a-f]{8}$/.exec(key) ?? [];
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
});

test('new API keys differ in public id and secret', () => {
  const keys = Array.from({ length: 100 }, () => generateApiKey());
  expect(new Set(keys.map((key) => key.slice(9, 21))).size).toBe(100);
  expect(new Set(keys.map((key) => key.slice(22, 65))).size).toBe(100);
});

test('a newly generated API key is not reported as mistyped', () => {
  for (let i = 0; i < 100; i++) expect(isMistyped(generateApiKey())).toBe(false);
});

test('one wrong character after the prefix marks an API key as mistyped', () => {
  const key = generateApiKey();
  for (let i = 'rollcall_'.length; i < key.length; i++) {
    if (key[i] === '_') continue;
    const wrong = key.slice(0, i) + (key[i] === '0' ? '1' : '0') + key.slice(i + 1);
    expect([i, isMistyped(wrong)]).toEqual([i, true]);
  }
});

test.each(['', 'rollcall_', 'a-key-of-an-operator-0123456789-0123456789', `${'x'.repeat(31)}_`])(
  'other text is not reported as a mistyped API key: %j',
  (key) => {
    expect(isMistyped(key)).toBe(false);
  },
);
