import { expect, test } from '@jest/globals';
import { caseFold, characters, fold, isCleanText, normalise, normaliseLine } from '../../src/common/text.js';

test.each([
  ['', 0],
  ['Jane', 4],
  ['é', 1],
  ['e\u0301', 2],
  ['😀', 1],
  ['👩‍👧', 3],
])('a character is a Unicode code point: %j has %d', (text, count) => {
  expect(characters(text)).toBe(count);
});

/** `invisible.spec` has every code point. */
test.each([
  ['Jane Doe', true, true],
  ['', true, true],
  ['東京 😀', true, true],
  ['a\nb', false, true],
  ['a\r\nb', false, false],
  ['\ud800', false, false],
])('%j is clean: %s, clean where newlines are allowed: %s', (text, inLine, inText) => {
  expect(isCleanText(text)).toBe(inLine);
  expect(isCleanText(text, { newlines: true })).toBe(inText);
});

test.each([
  ['  Jane  ', 'Jane'],
  ['e\u0301', 'é'],
  ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
  ['a  b', 'a  b'],
  ['\u00a0x\u3000', 'x'],
])('stored text is NFC, trimmed, with \\n as line end: %j becomes %j', (text, stored) => {
  expect(normalise(text)).toBe(stored);
});

test.each([
  ['  Jane   Doe ', 'Jane Doe'],
  ['Jane\u00a0\u2003Doe', 'Jane Doe'],
  ['Jane\tDoe', 'Jane\tDoe'],
  ['Jose\u0301', 'José'],
  ['   ', ''],
])(
  'a line has its runs of spaces collapsed, control characters stay to be refused: %j becomes %j',
  (text, stored) => {
    expect(normaliseLine(text)).toBe(stored);
  },
);

test.each([
  ['JOSÉ', 'jose'],
  ['Straße', 'strasse'],
  ['Søren Ångström', 'soren angstrom'],
  ['Łódź', 'lodz'],
  ['Đặng', 'dang'],
  ['Æsir Œuvre Þór', 'aesir oeuvre thor'],
  ['İstanbul ılık', 'istanbul ilik'],
  ['ﬁne', 'fine'],
  ['Ｊａｎｅ', 'jane'],
  ['ΟΔΟΣ', fold('οδος')],
  ['Ёлка', 'елка'],
  ['東京', '東京'],
])('for searching and sorting, case and accents are folded: %s becomes %s', (text, folded) => {
  expect(fold(text)).toBe(folded);
});

test.each([
  ['STRASSE', 'straße'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['ﬀ', 'FF'],
  ['É', 'é'],
])('%s and %s differ in case alone', (one, other) => {
  expect(caseFold(one)).toBe(caseFold(other));
});

test('case folding keeps accents', () => {
  expect(caseFold('José')).not.toBe(caseFold('Jose'));
});
