import { describe, expect, test } from '@jest/globals';
import { skipLines } from '../../src/import/file/text-decoder.js';

async function* inPieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function readLines(text: string, first: number, last: number, size = text.length + 1): Promise<string> {
  let result = '';
  for await (const piece of skipLines(inPieces(text, size), { first, last })) result += piece;
  return result;
}

/** Returns the expected text, computed from all lines with their ends. */
function removeLines(text: string, first: number, last: number): string {
  const lines = text.match(/[^\r\n]*(\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  return lines.slice(first, Math.max(first, lines.length - last)).join('');
}

const TEXTS = [
  'a\nb\nc\nd\n',
  'a\nb\nc\nd',
  'a\r\nb\r\nc\r\nd\r\n',
  'a\rb\rc\rd',
  '\n\nb\r\n\r\r\nc',
  'one "open\nquote\nh\n1\n2\n"total\n',
  'a',
  '\r\n',
];

describe.each(TEXTS)('the skipped lines of %j', (text) => {
  test.each([1, 2, 3, 100])('are left out at chunk size %d', async (size) => {
    for (const first of [0, 1, 2, 5])
      for (const last of [0, 1, 2, 5])
        expect([first, last, await readLines(text, first, last, size)]).toEqual([
          first,
          last,
          removeLines(text, first, last),
        ]);
  });
});

test('skipping an endless line fails with row_too_long', async () => {
  const endless = async function* (): AsyncGenerator<string> {
    for (;;) yield 'x'.repeat(64 * 1024);
  };
  for (const skipped of [
    { first: 0, last: 1 },
    { first: 1, last: 0 },
  ]) {
    const read = async () => {
      for await (const _ of skipLines(endless(), skipped));
    };
    await expect(read()).rejects.toMatchObject({ code: 'row_too_long' });
  }
});

test('the first and last lines of a huge file are skipped', async () => {
  const text = 'row\n'.repeat(1_000_000);
  expect((await readLines(text, 2, 3, 64 * 1024)).length).toBe(text.length - 20);
});
