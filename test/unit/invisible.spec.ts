import { describe, expect, test } from '@jest/globals';
import {
  formatCodePoint,
  findDeceptive,
  findInvisible,
  isCleanText,
} from '../../src/platform/common/text.js';

const charOf = (code: number): string => String.fromCodePoint(code);

describe('the check for invisible characters', () => {
  test.each([0xad, 0x200b, 0x202e, 0x2028, 0xfe0f, 0x10ffff])(
    'finds code point %i at any position',
    (code) => {
      for (const text of [`admin${charOf(code)}`, `${charOf(code)}é`, `a${charOf(code)}b`, charOf(code)])
        expect(findInvisible(text)).toBe(charOf(code));
    },
  );

  test('reports the first invisible code point', () => {
    expect(formatCodePoint(findInvisible('x\u200by\u00ad') ?? '')).toBe('U+200B');
    expect(formatCodePoint('\u{e0041}')).toBe('U+E0041');
    expect(formatCodePoint('\u00ad')).toBe('U+00AD');
  });
});

describe('the text checks', () => {
  /** Blank characters without a hidden property. */
  const BLANK = [0x2800, 0xfffc, 0x13441, 0x13442, 0x16fe4, 0x1d159];
  /** Properties of the interface, and general categories without visible characters. Surrogates are broken text. */
  const HIDDEN = [
    /\p{Default_Ignorable_Code_Point}/u,
    /\p{Bidi_Control}/u,
    /\p{Noncharacter_Code_Point}/u,
    /\p{Cf}/u,
    /\p{Zl}|\p{Zp}/u,
  ];
  const REFUSED_AS_TEXT = /\p{Cc}|\p{Cs}/u;

  test('refuse exactly the invisible, control and surrogate code points', () => {
    const wrong: string[] = [];
    let hidden = 0;
    for (let code = 0; code <= 0x10ffff; code++) {
      const char = charOf(code);
      const isHidden = BLANK.includes(code) || HIDDEN.some((property) => property.test(char));
      if (isHidden) hidden++;
      if ((findInvisible(`é${char}b`) !== undefined) !== isHidden) wrong.push(formatCodePoint(char));
      const isRefused = REFUSED_AS_TEXT.test(char);
      if (isCleanText(`é${char}b`) === isRefused) wrong.push(`text ${formatCodePoint(char)}`);
      if (isCleanText(`é${char}b`, { newlines: true }) === (isRefused && char !== '\n'))
        wrong.push(`lines ${formatCodePoint(char)}`);
    }
    expect(wrong).toEqual([]);
    expect(hidden).toBeGreaterThan(4200);
  });
});

describe('a zero-width joiner', () => {
  test.each([
    ['Persian, between two letters that would join', 'علی\u200cرضا'],
    ['Devanagari, a half form', 'क्\u200dष'],
    ['Devanagari, no conjunct', 'क्\u200cष'],
    ['Sinhala', 'ශ්\u200dරී'],
    ['Malayalam, at the end of a word', 'രാജന്\u200d'],
    ['Malayalam, in a name of two words', 'രാജന്\u200d നായർ'],
    ['Bengali, before the virama', 'র\u200d্যাচেল'],
    ['several joiners', 'علی\u200cرضا علی\u200cرضا'],
  ])('is accepted: %s', (_, text) => {
    expect(findInvisible(text)).toBeUndefined();
  });

  test.each([
    ['between Latin letters', 'ad\u200dmin'],
    ['at the end', 'admin\u200c'],
    ['at the beginning', '\u200dadmin'],
    ['after an Arabic letter that joins nothing', 'د\u200cر'],
    ['between Arabic letters that join anyway', 'ع\u200dل'],
    ['after an Arabic name', 'علی\u200c'],
    ['between scripts', 'ع\u200ca'],
    ['without a virama', 'क\u200dष'],
    ['after a virama at the end of a word', 'क्\u200c'],
    ['two in a row', 'علی\u200c\u200cرضا'],
    ['between emoji', '👩\u200d👧'],
    ['a valid and an invalid joiner', 'علی\u200cرضا\u200d'],
  ])('is refused: %s', (_, text) => {
    expect(findInvisible(text)).toMatch(/^[\u200c\u200d]$/);
  });

  test('does not hide another invisible character', () => {
    expect(findInvisible('علی\u200cرضا\u200b')).toBe('\u200b');
  });
});

test.each(['a\nb', '👩\u200d👧', '❤\ufe0f', 'soft\u00adhyphen', 'a\u200bb', 'x\u200ey', '\ufeffx'])(
  'multi-line text may contain %j',
  (text) => {
    expect(findDeceptive(text)).toBeUndefined();
  },
);
test.each(['\u202e', '\u202a', '\u2066', '\ufffe', '\u{e0041}', '\u{1ffff}'])(
  'multi-line text must not contain %j',
  (text) => {
    expect(findDeceptive(`a${text}b`)).toBe(text);
  },
);
