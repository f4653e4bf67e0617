import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { BE_BOM, decode, joined, LE_BOM, swapped, utf16, UTF8_BOM } from '../support/data/decode.js';

const BYTE = (byte: number, line: number, encoding: string) =>
  `Byte ${byte} of the file, on line ${line}, is not valid ${encoding}; ` +
  'save the file as UTF-8, or name its encoding with encoding=….';
const NUL = (line: number) =>
  `Line ${line} holds a NUL character; the file is probably UTF-16 without a byte order mark: ` +
  'save it as UTF-8, or name its encoding with encoding=….';
const NO_CSV = (what: string) => `The file is ${what}, not a CSV file; unpack it, or save the sheet as CSV.`;
const CONTRADICTION = (mark: string, named: string) =>
  `The byte order mark of the file says ${mark}, but encoding= says ${named}; leave encoding= out, or correct it.`;

describe.each(CHUNKINGS)('%s', (_, size) => {
  test.each<[string, Buffer, string | undefined, string, string, number]>([
    ['an invalid byte', joined('a\nb', [0xff]), undefined, 'a\nb', BYTE(3, 2, 'utf-8'), 2],
    ['the first byte', joined([0xe9], 'abcdef'), undefined, '', BYTE(0, 1, 'utf-8'), 1],
    [
      'windows-1252 that is taken for UTF-8',
      joined('ab\r\nJos\xe9,x\r\n'),
      undefined,
      'ab\r\nJos',
      BYTE(7, 2, 'utf-8'),
      2,
    ],
    [
      'a sequence that breaks off',
      joined(Buffer.from('é\né'), [0xe2, 0x82], 'xyz'),
      undefined,
      'é\né',
      BYTE(5, 2, 'utf-8'),
      2,
    ],
    ['a surrogate in UTF-8', joined('abcd', [0xed, 0xa0, 0x80]), undefined, 'abcd', BYTE(4, 1, 'utf-8'), 1],
    ['too long a form', joined('abcd', [0xc0, 0xaf]), undefined, 'abcd', BYTE(4, 1, 'utf-8'), 1],
    [
      'a character cut short at the end',
      joined('a\nb\n', [0xe2, 0x82]),
      undefined,
      'a\nb\n',
      BYTE(4, 3, 'utf-8'),
      3,
    ],
    ['a short file cut short', joined([0xc3]), undefined, '', BYTE(0, 1, 'utf-8'), 1],
    ['UTF-16 cut short', joined(LE_BOM, utf16('ab'), [0x41]), undefined, 'ab', BYTE(6, 1, 'utf-16le'), 1],
    [
      'a surrogate alone',
      joined(LE_BOM, utf16('a\n'), [0x00, 0xde], utf16('b')),
      undefined,
      'a\n',
      BYTE(6, 2, 'utf-16le'),
      2,
    ],
    [
      'a surrogate alone at the end',
      joined(BE_BOM, swapped('ab'), [0xd8, 0x3d]),
      undefined,
      'ab',
      BYTE(6, 1, 'utf-16be'),
      1,
    ],
    [
      'a byte after a lead byte of shift_jis',
      joined('ab', [0x83, 0x65, 0x83]),
      'shift_jis',
      'abテ',
      BYTE(4, 1, 'shift_jis'),
      1,
    ],
    [
      'lines that end in CR, LF and CRLF',
      joined('a\rb\nc\r\nd', [0xff]),
      undefined,
      'a\rb\nc\r\nd',
      BYTE(8, 4, 'utf-8'),
      4,
    ],
    ['NUL', joined('ab\r\nc\0d'), undefined, 'ab\r\nc', NUL(2), 2],
    ['UTF-16LE without a mark', utf16('ab'), undefined, 'a', NUL(1), 1],
    ['UTF-16BE without a mark', swapped('ab'), undefined, '', NUL(1), 1],
    [
      'NUL in UTF-16',
      joined(LE_BOM, utf16('a\n\0')),
      undefined,
      'a\n',
      'Line 2 holds a NUL character; take it out.',
      2,
    ],
    ['NUL before a bad byte', joined('a\0\xff'), undefined, 'a', NUL(1), 1],
    [
      'a ZIP archive',
      joined('PK\x03\x04abc'),
      undefined,
      '',
      NO_CSV('a ZIP archive or an Excel workbook'),
      1,
    ],
    [
      'a ZIP archive under a name that has all bytes',
      joined('PK\x03\x04abc'),
      'windows-1252',
      '',
      NO_CSV('a ZIP archive or an Excel workbook'),
      1,
    ],
    [
      'an old workbook',
      joined([0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
      undefined,
      '',
      NO_CSV('an Excel workbook'),
      1,
    ],
    ['gzip', joined([0x1f, 0x8b, 0x08, 0x00]), undefined, '', NO_CSV('a gzip archive'), 1],
    ['only the first bytes of gzip', joined([0x1f, 0x8b]), undefined, '', NO_CSV('a gzip archive'), 1],
    [
      'a mark of UTF-8 against a name',
      joined(UTF8_BOM, 'a'),
      'latin1',
      '',
      CONTRADICTION('utf-8', 'windows-1252'),
      1,
    ],
    [
      'a mark of UTF-16LE against a name',
      joined(LE_BOM, utf16('a')),
      'utf-8',
      '',
      CONTRADICTION('utf-16le', 'utf-8'),
      1,
    ],
    [
      'a mark of UTF-16BE against a name',
      joined(BE_BOM, swapped('a')),
      'utf-16',
      '',
      CONTRADICTION('utf-16be', 'utf-16le'),
      1,
    ],
  ])('refused: %s', async (_name, bytes, encoding, text, message, line) => {
    const source = new ByteSource(bytes, size);
    expect(await decode(source, encoding)).toEqual({ text, error: { code: 'bad_encoding', line, message } });
    expect(source.closed).toBe(true);
  });
});
