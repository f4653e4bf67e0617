import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { BE_BOM, decode, concat, LE_BOM, toUtf16Be, toUtf16, UTF8_BOM } from '../support/data/decode.js';

const fault = (line: number, message: string) => ({ code: 'bad_encoding', line, message });
const byte = (byte: number, line: number, encoding = 'utf-8') =>
  fault(
    line,
    `Byte ${byte} of the file, on line ${line}, is not valid ${encoding}. ` +
      'Save the file as UTF-8, or choose its encoding (option encoding).',
  );
const nul = (line: number) =>
  fault(
    line,
    `Line ${line} contains a NUL character. The file is probably UTF-16 without a byte order mark. ` +
      'Save it as UTF-8, or choose its encoding (option encoding).',
  );
const noCsv = (what: string) =>
  fault(1, `The file is ${what}, not a CSV file. Unpack it, or save the sheet as CSV.`);
const contradiction = (mark: string, named: string) =>
  fault(
    1,
    `The byte order mark of the file indicates ${mark}, but the option encoding is ${named}. Correct this option, or leave it out.`,
  );
const IN_UTF16 = fault(2, 'Line 2 contains a NUL character. Remove it.');
const ZIP = noCsv('a ZIP archive or an Excel workbook');

/** Name, bytes, text before the fault, fault, and encoding of the options. */
type Case = [string, Buffer, string, ReturnType<typeof fault>, string?];
const CASES: Case[] = [
  ['an invalid byte', concat('a\nb', [0xff]), 'a\nb', byte(3, 2)],
  ['an invalid first byte', concat([0xe9], 'abcdef'), '', byte(0, 1)],
  ['windows-1252 read as UTF-8', concat('ab\r\nJos\xe9,x\r\n'), 'ab\r\nJos', byte(7, 2)],
  ['an incomplete sequence', concat(Buffer.from('é\né'), [0xe2, 0x82], 'xyz'), 'é\né', byte(5, 2)],
  ['a surrogate in UTF-8', concat('abcd', [0xed, 0xa0, 0x80]), 'abcd', byte(4, 1)],
  ['an overlong form', concat('abcd', [0xc0, 0xaf]), 'abcd', byte(4, 1)],
  ['a truncated character at the end', concat('a\nb\n', [0xe2, 0x82]), 'a\nb\n', byte(4, 3)],
  ['a file of half a character', concat([0xc3]), '', byte(0, 1)],
  ['truncated UTF-16', concat(LE_BOM, toUtf16('ab'), [0x41]), 'ab', byte(6, 1, 'utf-16le')],
  [
    'a lone surrogate',
    concat(LE_BOM, toUtf16('a\n'), [0, 0xde], toUtf16('b')),
    'a\n',
    byte(6, 2, 'utf-16le'),
  ],
  [
    'a lone surrogate at the end',
    concat(BE_BOM, toUtf16Be('ab'), [0xd8, 0x3d]),
    'ab',
    byte(6, 1, 'utf-16be'),
  ],
  ['truncated shift_jis', concat('ab', [0x83, 0x65, 0x83]), 'abテ', byte(4, 1, 'shift_jis'), 'shift_jis'],
  ['an invalid byte after mixed line endings', concat('a\rb\nc\r\nd', [0xff]), 'a\rb\nc\r\nd', byte(8, 4)],
  ['a NUL character', concat('ab\r\nc\0d'), 'ab\r\nc', nul(2)],
  ['UTF-16LE without a BOM', toUtf16('ab'), 'a', nul(1)],
  ['UTF-16BE without a BOM', toUtf16Be('ab'), '', nul(1)],
  ['a NUL character in UTF-16', concat(LE_BOM, toUtf16('a\n\0')), 'a\n', IN_UTF16],
  ['a NUL character before an invalid byte', concat('a\0\xff'), 'a', nul(1)],
  ['a ZIP archive', concat('PK\x03\x04abc'), '', ZIP],
  ['a ZIP archive read as windows-1252', concat('PK\x03\x04abc'), '', ZIP, 'windows-1252'],
  ['an old Excel workbook', concat([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), '', noCsv('an Excel workbook')],
  ['a gzip archive', concat([0x1f, 0x8b, 0x08, 0x00]), '', noCsv('a gzip archive')],
  ['a truncated gzip archive', concat([0x1f, 0x8b]), '', noCsv('a gzip archive')],
  ['UTF-8 read as latin1', concat(UTF8_BOM, 'a'), '', contradiction('utf-8', 'windows-1252'), 'latin1'],
  ['UTF-16LE read as UTF-8', concat(LE_BOM, toUtf16('a')), '', contradiction('utf-16le', 'utf-8'), 'utf-8'],
  [
    'UTF-16BE read as UTF-16',
    concat(BE_BOM, toUtf16Be('a')),
    '',
    contradiction('utf-16be', 'utf-16le'),
    'utf-16',
  ],
];

describe.each(CHUNKINGS)('the text decoder, input %s', (_, size) => {
  test.each(CASES)('refuses %s', async (_name, bytes, text, error, ...[encoding]) => {
    const source = new ByteSource(bytes, size);
    expect(await decode(source, encoding)).toEqual({ text, error });
    expect(source.closed).toBe(true);
  });
});
