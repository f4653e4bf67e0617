import { describe, expect, test } from '@jest/globals';
import {
  toAuthnameIdentifier,
  toExactKey,
  identifiersOf,
  toLoginIdentifier,
  toLoginKey,
  toNameSortKey,
} from '../../src/users/model/comparison-keys.js';

describe('usernames and e-mail addresses', () => {
  test.each([
    ['Jane Doe', 'jane doe'],
    ['  jane \t  doe ', 'jane doe'],
    ['ＪＡＮＥ', 'jane'],
    ['jane\u00a0doe', 'jane doe'],
    ['STRASSE', 'straße'],
    ['ﬃ', 'FFI'],
    ['ΣΟΦΟΣ', 'σοφος'],
    ['Jose\u0301', 'JOSÉ'],
    ['K', 'k'], // U+212A, the kelvin sign
    ['①', '1'],
  ])('%j and %j have the same comparison key', (one, other) => {
    expect(toLoginKey(one)).toBe(toLoginKey(other));
  });

  test.each([
    ['José', 'Jose'],
    ['janedoe', 'jane doe'],
    ['jane.doe', 'jane_doe'],
    ['müller', 'mueller'],
    ['а', 'a'], // Cyrillic
  ])('%j and %j have different comparison keys', (one, other) => {
    expect(toLoginKey(one)).not.toBe(toLoginKey(other));
  });

  test('ignore the case of every letter except ẞ', () => {
    const broken: string[] = [];
    for (let code = 0x41; code < 0x1_0000; code++) {
      const letter = String.fromCodePoint(code);
      if (!/\p{L}/u.test(letter)) continue;
      const keys = [letter, letter.toUpperCase(), toLoginKey(letter)].map(toLoginKey);
      if (new Set(keys).size > 1) broken.push(letter);
    }
    // The interface converts to upper case, then to lower case, so the capital sharp s differs from `ß` and `SS`.
    expect(broken).toEqual(['ẞ']);
  });
});

describe('external ids and authnames', () => {
  test.each([
    ['  HR-1 ', 'HR-1'],
    ['e\u0301', 'é'],
  ])('%j and %j have the same comparison key', (one, other) => {
    expect(toExactKey(one)).toBe(toExactKey(other));
  });

  test.each([
    ['hr-1', 'HR-1'],
    ['ﬁ', 'fi'],
    ['a  b', 'a b'],
    ['1', '①'],
  ])('%j and %j have different comparison keys', (one, other) => {
    expect(toExactKey(one)).not.toBe(toExactKey(other));
  });
});

test.each([
  ['a username of ligatures', toLoginKey, 'ﷺ'.repeat(254)],
  ['an external id of emoji', toExactKey, '😀'.repeat(255)],
])('the comparison key of %s has at most 255 characters', (_, keyOf, long) => {
  expect(keyOf(long).length).toBeLessThanOrEqual(255);
  expect(keyOf(long)).not.toBe(keyOf(`${long}x`));
  expect(keyOf(long)).toBe(keyOf(` ${long} `));
});

test('a sort key ignores case and accents', () => {
  expect(toNameSortKey('Érik')).toBe(toNameSortKey('erik'));
  expect(toNameSortKey('')).toBe('');
  expect(toNameSortKey('é'.repeat(300))).toHaveLength(255);
  expect(toNameSortKey('😀'.repeat(300)).isWellFormed()).toBe(true);
});

describe('the identifiers of a user', () => {
  const user = {
    username: 'Jane',
    email: 'Jane@Example.org',
    external_id: 'HR-1',
    authname: { saml: ['a', 'b'], ldap: ['a'] },
  };

  test('are the username, email, external id and authnames', () => {
    expect(identifiersOf(user)).toEqual([
      { field: 'username', identifier: toLoginIdentifier('jane') },
      { field: 'email', identifier: toLoginIdentifier('jane@example.org') },
      { field: 'external_id', identifier: 'external_id:HR-1' },
      { field: 'authname', identifier: toAuthnameIdentifier('saml', 'a') },
      { field: 'authname', identifier: toAuthnameIdentifier('saml', 'b') },
      { field: 'authname', identifier: toAuthnameIdentifier('ldap', 'a') },
    ]);
  });
});
