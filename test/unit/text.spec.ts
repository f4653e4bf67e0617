import { expect, test } from '@jest/globals';
import { foldCase, foldText, normalizeText, replaceHidden } from '../../src/platform/common/text.js';

/** `invisible.spec` tests every code point, and `user-input` and `user-text` test limits and lines. */
test.each([
  ['  Jane  ', 'Jane'],
  ['e\u0301', 'é'],
  ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
  ['a  b', 'a  b'],
  ['\u00a0x\u3000', 'x'],
])('the text %j is stored as %j', (text, stored) => {
  expect(normalizeText(text)).toBe(stored);
});

test.each([
  ['نمی\u200cخواهم.csv', 'نمی\u200cخواهم.csv'],
  ['staff\u202evsc.exe', 'staff\ufffdvsc.exe'],
  ['a\u200b\u2066\u061cb\u{e0041}\u{1d173}\ufeff', 'a\ufffd\ufffd\ufffdb\ufffd\ufffd\ufffd'],
  ['a\u001b[31m\n\u009b\u007f\ud800', 'a\ufffd[31m\ufffd\ufffd\ufffd\ufffd'],
])('the name %j is shown as %j', (name, shown) => {
  expect(replaceHidden(name)).toBe(shown);
});

test.each([
  ['JOSÉ', 'jose'],
  ['Straße', 'strasse'],
  ['Søren Ångström', 'soren angstrom'],
  ['Łódź', 'lodz'],
  ['Đặng', 'dang'],
  ['Æsir Œuvre Þór', 'aesir oeuvre thor'],
  ['İstanbul ılık', 'istanbul ilik'],
  ['Ｊａｎｅ', 'jane'],
  ['ΟΔΟΣ', foldText('οδος')],
  ['Ёлка', 'елка'],
  ['東京', '東京'],
])('text for search and sorting loses case and accents: %s becomes %s', (text, folded) => {
  expect(foldText(text)).toBe(folded);
});

test.each([
  ['STRASSE', 'straße'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['ﬀ', 'FF'],
  ['É', 'é'],
])('%s and %s are equal after case folding', (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other));
});

test('case folding preserves accents', () => {
  expect(foldCase('José')).not.toBe(foldCase('Jose'));
});
