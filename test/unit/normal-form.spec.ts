import { expect, test } from '@jest/globals';
import { isCleanText, toNormalForm } from '../../src/platform/common/text.js';

const marks = (count: number) => `a${'\u0301\u0316'.repeat(count / 2)}`;

test('text is converted to the requested Unicode normal form', () => {
  expect(toNormalForm('e\u0301', 'NFC')).toBe('é');
  expect(toNormalForm('ﬃ', 'NFKC')).toBe('ffi');
  expect(toNormalForm('กี่', 'NFC')).toBe('กี่'.normalize('NFC'));
});

test('a letter with more than 30 combining marks is refused', () => {
  expect(toNormalForm(marks(30), 'NFC')).toBe(marks(30).normalize('NFC'));
  expect(toNormalForm(marks(32), 'NFC')).toBe(marks(32));
  expect({ 30: isCleanText(marks(30)), 32: isCleanText(marks(32)) }).toEqual({ 30: true, 32: false });
});

test('normalization leaves a letter with hundreds of thousands of combining marks unchanged', () => {
  const text = `a${'\u0301'.repeat(200_000)}${'\u0316'.repeat(200_000)}`;
  expect(toNormalForm(text, 'NFKD') === text).toBe(true);
});
