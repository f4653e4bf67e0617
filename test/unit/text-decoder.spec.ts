import { describe, expect, test } from '@jest/globals';
import { decodeText } from '../../src/import/file/text-decoder.js';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { BE_BOM, decode, concat, LE_BOM, toUtf16Be, toUtf16, UTF8_BOM } from '../support/data/decode.js';

describe.each(CHUNKINGS)('the text decoder, input %s', (_, size) => {
  test.each<[string, Buffer, string | undefined, string]>([
    ['an empty file', concat(), undefined, ''],
    ['a byte order mark alone', concat(UTF8_BOM), undefined, ''],
    ['one character', concat('a'), undefined, 'a'],
    ['UTF-8', Buffer.from('aé東😀\r\n'), undefined, 'aé東😀\r\n'],
    ['UTF-8 with a BOM', concat(UTF8_BOM, Buffer.from('é,b')), undefined, 'é,b'],
    ['UTF-8 with a BOM and a set encoding', concat(UTF8_BOM, Buffer.from('é')), 'utf-8', 'é'],
    ['a second BOM as a character', concat(UTF8_BOM, UTF8_BOM, 'a'), undefined, '\ufeffa'],
    ['UTF-16LE with a BOM', concat(LE_BOM, toUtf16('é東😀,b\n')), undefined, 'é東😀,b\n'],
    ['UTF-16BE with a BOM', concat(BE_BOM, toUtf16Be('é東😀,b\n')), undefined, 'é東😀,b\n'],
    ['UTF-16LE with a set encoding', toUtf16('é😀,b'), 'utf-16le', 'é😀,b'],
    ['UTF-16BE with a set encoding', toUtf16Be('é😀,b'), 'UTF-16BE', 'é😀,b'],
    ['UTF-16LE with a BOM and a set encoding', concat(LE_BOM, toUtf16('é')), 'utf-16', 'é'],
    ['windows-1252', concat([0x80, 0xe9, 0x99]), 'windows-1252', '€é™'],
    ['ISO-8859-1 as windows-1252', concat([0x80]), ' ISO-8859-1 ', '€'],
    ['iso-8859-15', concat([0xa4, 0xe9]), 'iso-8859-15', '€é'],
    ['shift_jis', concat([0x83, 0x65, 0x41]), 'shift_jis', 'テA'],
    ['a four-byte gb18030 character', concat([0x94, 0x39, 0xfc, 0x36]), 'gb18030', '😀'],
  ])('decodes %s', async (_name, bytes, encoding, text) => {
    expect(await decode(new ByteSource(bytes, size), encoding)).toEqual({ text });
  });
});

test.each(['klingon', '', 'x-user-defined', 'x'.repeat(300)])(
  'the unknown encoding %j is refused',
  async (label) => {
    const { error } = await decode(new ByteSource(concat('a')), label);
    expect(error).toEqual({
      code: 'unknown_encoding',
      line: undefined,
      message: `The encoding "${label.slice(0, 100)}" is unknown. Use a name such as utf-8, utf-16le or windows-1252.`,
    });
  },
);

test.each([0, 1, 2, 3, 65_533, 65_534, 65_535, 65_536, 131_071])(
  'a multi-byte character after %d bytes is decoded',
  async (before) => {
    const good = Buffer.concat([Buffer.alloc(before, 'a'), Buffer.from('é😀b')]);
    expect((await decode(new ByteSource(good))).text).toBe(`${'a'.repeat(before)}é😀b`);
    const bad = Buffer.concat([Buffer.alloc(before, 'a'), Buffer.from([0xf0, 0x9f, 0x98, 0x41, 0x41])]);
    const { text, error } = await decode(new ByteSource(bad));
    expect([text.length, error?.message]).toEqual([
      before,
      expect.stringContaining(`Byte ${before} of the file`),
    ]);
  },
);

test('a large chunk is decoded in pieces of 65,536 characters', async () => {
  const sizes: number[] = [];
  for await (const piece of decodeText(new ByteSource(Buffer.alloc(1_000_000, 'a')), undefined))
    sizes.push(piece.length);
  expect(Math.max(...sizes)).toBe(65_536);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000_000);
});
