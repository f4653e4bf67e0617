import { expect, test } from '@jest/globals';
import { LineBuffer } from '../../src/platform/database/engine/worker-process.js';

/** Lines of another process arrive in pieces and are passed on whole, with their ends, in bounded memory. */
const TEXT = 'one\n\nthree, and longer\nfour\n';

test.each(Array.from(TEXT, (_, n) => n + 1))('output in chunks of %d becomes whole lines', (size) => {
  const lines = new LineBuffer();
  const taken: string[] = [];
  for (let at = 0; at < TEXT.length; at += size) taken.push(lines.add(TEXT.slice(at, at + size)));
  expect(taken.join('')).toBe(TEXT);
  expect(taken.filter((text) => text !== '' && !text.endsWith('\n'))).toEqual([]);
  expect(lines.end()).toBe('');
});

test('the last output line gets a missing line ending', () => {
  const lines = new LineBuffer();
  expect([lines.add('one\ntw'), lines.add('o'), lines.end()]).toEqual(['one\n', '', 'two\n']);
});

test('an output line of more than 64 KiB is dropped', () => {
  const lines = new LineBuffer();
  const piece = 'x'.repeat(16 * 1024);
  for (let n = 0; n < 4; n++) expect(lines.add(piece)).toBe('');
  expect([lines.add('x'), lines.add(`${piece}y\ntwo\nth`), lines.add('ree\n')]).toEqual([
    '',
    'two\n',
    'three\n',
  ]);
  for (let n = 0; n < 5; n++) lines.add(piece);
  expect(lines.end()).toBe('');
});
