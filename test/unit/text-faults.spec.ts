import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { BE_BOM, decode, joined, LE_BOM, swapped, utf16, UTF8_BOM } from '../support/data/decode.js';

const fault = (line: number, message: string) => ({ code: 'bad_encoding', line, message });
const BYTE = (byte: number, line: number, encoding = 'utf-8') =>
  fault(
    line,
    `Byte ${byte} of the file, on line ${line}, is not valid ${encoding}. ` +
      'Save the file as UTF-8, or set its encoding with encoding=….',
  );
const NUL = (line: number) =>
  fault(
    line,
    `Line ${line} contains a NUL character. The file is probably UTF-16 without a byte order mark. ` +
      'Save it as UTF-8, or set its encoding with encoding=….',
  );
const NO_CSV = (what: string) =>
  fault(1, `The file is ${what}, not a CSV file. Unpack it, or save the sheet as CSV.`);
const CONTRADICTION = (mark: string, named: string) =>
  fault(
    1,
    `The byte order mark of the file means ${mark}, but encoding= is ${named}. Correct encoding=, or leave it out.`,
  );
const IN_UTF16 = fault(2, 'Line 2 contains a NUL character. Remove it.');
const ZIP = NO_CSV('a ZIP archive or an Excel workbook');

/** Name, bytes, the text before the fault, the fault, and the encoding that is named. */
type Case = [string, Buffer, string, ReturnType<typeof fault>, string?];
const CASES: Case[] = [
  ['an invalid byte', joined('a\nb', [0xff]), 'a\nb', BYTE(3, 2)],
  ['the first byte', joined([0xe9], 'abcdef'), '', BYTE(0, 1)],
  ['windows-1252 as UTF-8', joined('ab\r\nJos\xe9,x\r\n'), 'ab\r\nJos', BYTE(7, 2)],
  ['a sequence that breaks off', joined(Buffer.from('é\né'), [0xe2, 0x82], 'xyz'), 'é\né', BYTE(5, 2)],
  ['a surrogate in UTF-8', joined('abcd', [0xed, 0xa0, 0x80]), 'abcd', BYTE(4, 1)],
  ['too long a form', joined('abcd', [0xc0, 0xaf]), 'abcd', BYTE(4, 1)],
  ['a character cut short at the end', joined('a\nb\n', [0xe2, 0x82]), 'a\nb\n', BYTE(4, 3)],
  ['a short file cut short', joined([0xc3]), '', BYTE(0, 1)],
  ['UTF-16 cut short', joined(LE_BOM, utf16('ab'), [0x41]), 'ab', BYTE(6, 1, 'utf-16le')],
  ['a surrogate alone', joined(LE_BOM, utf16('a\n'), [0, 0xde], utf16('b')), 'a\n', BYTE(6, 2, 'utf-16le')],
  ['a surrogate at the end', joined(BE_BOM, swapped('ab'), [0xd8, 0x3d]), 'ab', BYTE(6, 1, 'utf-16be')],
  ['shift_jis', joined('ab', [0x83, 0x65, 0x83]), 'abテ', BYTE(4, 1, 'shift_jis'), 'shift_jis'],
  ['lines that end in CR, LF and CRLF', joined('a\rb\nc\r\nd', [0xff]), 'a\rb\nc\r\nd', BYTE(8, 4)],
  ['NUL', joined('ab\r\nc\0d'), 'ab\r\nc', NUL(2)],
  ['UTF-16LE without a mark', utf16('ab'), 'a', NUL(1)],
  ['UTF-16BE without a mark', swapped('ab'), '', NUL(1)],
  ['NUL in UTF-16', joined(LE_BOM, utf16('a\n\0')), 'a\n', IN_UTF16],
  ['NUL before a bad byte', joined('a\0\xff'), 'a', NUL(1)],
  ['a ZIP archive', joined('PK\x03\x04abc'), '', ZIP],
  ['a ZIP archive in an encoding that has all bytes', joined('PK\x03\x04abc'), '', ZIP, 'windows-1252'],
  ['an old workbook', joined([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), '', NO_CSV('an Excel workbook')],
  ['gzip', joined([0x1f, 0x8b, 0x08, 0x00]), '', NO_CSV('a gzip archive')],
  ['only the first bytes of gzip', joined([0x1f, 0x8b]), '', NO_CSV('a gzip archive')],
  ['UTF-8 named latin1', joined(UTF8_BOM, 'a'), '', CONTRADICTION('utf-8', 'windows-1252'), 'latin1'],
  ['UTF-16LE named UTF-8', joined(LE_BOM, utf16('a')), '', CONTRADICTION('utf-16le', 'utf-8'), 'utf-8'],
  [
    'UTF-16BE named UTF-16',
    joined(BE_BOM, swapped('a')),
    '',
    CONTRADICTION('utf-16be', 'utf-16le'),
    'utf-16',
  ],
];

describe.each(CHUNKINGS)('%s', (_, size) => {
  test.each(CASES)('refused: %s', async (_name, bytes, text, error, ...[encoding]) => {
    const source = new ByteSource(bytes, size);
    expect(await decode(source, encoding)).toEqual({ text, error });
    expect(source.closed).toBe(true);
  });
});
