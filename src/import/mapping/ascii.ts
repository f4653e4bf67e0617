import { normalForm } from '../../platform/common/text.js';

/** Letters that Unicode does not take apart into a letter of ASCII and its mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  ł: 'l',
  Ł: 'L',
  ŧ: 't',
  Ŧ: 'T',
  þ: 'th',
  Þ: 'Th',
  '’': "'",
  '‘': "'",
  '–': '-',
  '—': '-',
};

/** Text without accents: `Zoë Åström` is `Zoe Astrom`. Characters that have no form in ASCII are left out. */
export function toAscii(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return normalForm(text, 'NFKD').replace(/[^\0-\x7f]/gu, (letter) => LETTERS[letter] ?? '');
}
