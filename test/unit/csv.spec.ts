import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { CsvReader } from '../../src/import/file/csv-reader.js';
import { FileError } from '../../src/import/file/file-error.js';
import { RecordParser } from '../../src/import/file/record-parser.js';
import { BOM, unescapeFormula, toCsvLine } from '../../src/platform/common/csv.js';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { createRandom } from '../support/data/random.js';

test.each<[string[], string]>([
  [['a', 'b'], 'a,b\r\n'],
  [['', ''], ',\r\n'],
  [[''], '""\r\n'],
  [['a b', "it's", 'x;y|z', 'é東😀'], "a b,it's,x;y|z,é東😀\r\n"],
  [['a,b'], '"a,b"\r\n'],
  [['a"b', '"'], '"a""b",""""\r\n'],
  [['a\nb', 'a\rb', 'a\r\nb'], '"a\nb","a\rb","a\r\nb"\r\n'],
  [[' a', 'a '], '" a","a "\r\n'],
  [['a=b', '1-2', 'a@b', '1+2'], 'a=b,1-2,a@b,1+2\r\n'],
])('the cells %j are written as one CSV line', (cells, line) => {
  expect(toCsvLine(cells)).toBe(line);
});

test.each<[string, string]>([
  ['=1+1', "'=1+1"],
  ['+44 20', "'+44 20"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\tx', "'\tx"],
  ['＝1+1', "'＝1+1"],
  ['＋44', "'＋44"],
  ['－1', "'－1"],
  ['＠sum', "'＠sum"],
  ["'＝x", "''＝x"],
  ["'=x", "''=x"],
  ["''+x", "'''+x"],
  ["'", "'"],
  ["'tis", "'tis"],
  ["''", "''"],
  ["''tis", "''tis"],
  ["x'=", "x'="],
])('the CSV cell %j is written as %j and read back unchanged', (cell, written) => {
  expect(toCsvLine([cell])).toBe(`${written}\r\n`);
  expect(unescapeFormula(written)).toBe(cell);
});

test('a CSV cell is both escaped and quoted if necessary', () => {
  expect(toCsvLine(['\rx'])).toBe(`"'\rx"\r\n`);
  expect(toCsvLine(['=a,b'])).toBe(`"'=a,b"\r\n`);
  expect(['=x', ''].map(unescapeFormula)).toEqual(['=x', '']);
});

/** Characters of random cells. Escapes, delimiters, quotes and line ends are more frequent than letters. */
const ALPHABET = Array.from(`''=+-@＝＋－＠\t\r\n"",;| xé😀\ufeff\u2028`);

test('the CSV parser reads random text like csv-parse, in pieces of any length', async () => {
  const random = createRandom(41);
  const parts = ['a', 'b ', '"', '""', ',', ',', '\n', '\r', '\r\n', '"a"', '"\n,"', 'é', 'x'.repeat(70_000)];
  const options = { record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true };
  for (let round = 0; round < 3_000; round++) {
    const pick = () => parts[random(parts.length - (round % 50 ? 1 : 0))];
    const text = Array.from({ length: random(24) }, pick).join('');
    const expected: string[][] = [];
    const on_record = (cells: string[]) => {
      if (cells.some((cell) => cell.trim() !== '')) expected.push(cells);
      return null;
    };
    let hasFault = false;
    try {
      parse(text, { ...options, on_record });
    } catch {
      hasFault = true;
    }
    const parser = new RecordParser(',');
    const middle = random(text.length + 1);
    const rows: string[][] = [];
    let isRefused = false;
    try {
      for (const piece of ['a,b\n', text.slice(0, middle), text.slice(middle)])
        for (const batch of parser.parseText(piece)) rows.push(...batch.map(({ cells }) => cells));
      for (const batch of parser.finish()) rows.push(...batch.map(({ cells }) => cells));
    } catch (error) {
      isRefused = error instanceof FileError && error.code.endsWith('_quote');
    }
    expect({ text, rows }).toEqual({ text, rows: [['a', 'b'], ...expected] });
    expect({ text, isRefused }).toEqual({ text, isRefused: hasFault });
  }
});

describe.each(CHUNKINGS)('the CSV reader (%s)', (_, size) => {
  test.each([1, 3])('reads random rows of %d cells unchanged', async (width) => {
    const random = createRandom(20_250_101 + width);
    const cell = () => Array.from({ length: random(6) }, () => ALPHABET[random(ALPHABET.length)]).join('');
    const rows = Array.from({ length: 3_000 }, () => Array.from({ length: width }, cell));
    const names = Array.from({ length: width }, (__, index) => `c${index}`);
    const file = BOM + toCsvLine(names) + rows.map(toCsvLine).join('');
    const reader = new CsvReader(new ByteSource(Buffer.from(file), size), { isKnownColumn: () => false });
    expect(await reader.readHeader()).toEqual(names);
    const read: string[][] = [];
    const lines: number[] = [];
    for await (const batch of reader.readRecords(100)) {
      read.push(...batch.map(({ cells }) => cells.map(unescapeFormula)));
      lines.push(...batch.map(({ line }) => line));
    }
    // A row of blank cells is read as an empty line, unless it has only one cell.
    const expected = [...rows.entries()].filter(
      ([, cells]) => width === 1 || cells.some((text) => /\S|^[\t\r]/.test(text)),
    );
    expect(read).toEqual(expected.map(([, cells]) => cells));
    expect(lines).toEqual(expected.map(([index]) => index + 2));
  });
});
