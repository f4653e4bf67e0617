import { expect, test } from '@jest/globals';
import { isMistyped, makeApiKey } from '../../src/api-keys/api-key.format.js';

test('a key has a fixed prefix, a public id, 32 random bytes and a checksum', () => {
  const [, random = ''] = /^rollcall_[0-9a-f]{12}_([A-Za-z0-9_-]{43})_[0-9a-f]{8}$/.exec(makeApiKey()) ?? [];
  expect(Buffer.from(random, 'base64url')).toHaveLength(32);
});

test('no two keys are alike', () => {
  expect(new Set(Array.from({ length: 1000 }, makeApiKey)).size).toBe(1000);
});

test('every single wrong character is found without a database', () => {
  for (let round = 0; round < 20; round++) {
    const key = makeApiKey();
    expect(isMistyped(key)).toBe(false);
    for (let at = 'rollcall_'.length; at < key.length; at++) {
      const typo = `${key.slice(0, at)}${key[at] === '1' ? '2' : '1'}${key.slice(at + 1)}`;
      const keepsItsForm = key[at] !== '_' || /^rollcall_[0-9a-f]{12}_[\w-]{43}_/.test(typo);
      expect([typo, isMistyped(typo)]).toEqual([typo, keepsItsForm]);
    }
  }
});

test('a key of another form is not ours to judge: operators may choose the first one', () => {
  for (const key of ['', 'chosen-by-an-operator-0123456789abcdef', makeApiKey().toUpperCase()]) {
    expect(isMistyped(key)).toBe(false);
  }
});
