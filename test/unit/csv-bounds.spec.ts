import { expect, test } from '@jest/globals';
import { MAX_ROWS } from '../../src/import/file/record-parser.js';
import { ByteSource, repeatUpTo } from '../support/data/bytes.js';
import { openCsv, readCsv } from '../support/data/csv.js';

const MIB = 1024 * 1024;
const tooLong = (line: number) =>
  `Line ${line} has more than 524288 characters. Shorten its cells, or correct the line endings of the file.`;
const endlessQuote = (line: number) =>
  `A quote that opens on line ${line} is probably never closed, because the row has more than 524288 characters. ` +
  'Close the quote, or write it twice if it belongs to the text.';

test.each([
  ['the maximum length is read', 1024 * 512 - 1, undefined],
  ['more than the maximum length is refused', 1024 * 512, 'row_too_long'],
])('a CSV row of %s', async (_case, length, code) => {
  for (const filling of ['x'.repeat(length), `"${'é'.repeat(length)}"`, `"${'""'.repeat(length)}"`]) {
    const source = new ByteSource(Buffer.from(`a,b\n1,${filling}\n3,4\n`), 64 * 1024);
    const { error, rows } = await readCsv(source);
    const read = [error?.code, error?.line, Object.keys(rows).length];
    expect(read).toEqual(code ? [code, 2, 0] : [undefined, undefined, 2]);
  }
});

test.each<[string, string, string, number, string]>([
  ['an open quote over many lines', 'a,b\n1,2\n3,"', 'x,y\n'.repeat(16_000), 100 * MIB, endlessQuote(3)],
  ['an open quote at the start', '"', 'ExternalId,Username\n'.repeat(3_000), 100 * MIB, endlessQuote(1)],
  ['an open quote on one line', 'a,b\n1,2\n3,"', 'x'.repeat(64_000), 100 * MIB, endlessQuote(3)],
  ['an open quote over doubled quotes', 'a,b\n1,2\n3,"', '"'.repeat(64_000), 100 * MIB, endlessQuote(3)],
  ['a line without a line ending', '', 'x'.repeat(64_000), 1000 * MIB, tooLong(1)],
  ['a line of empty cells', 'a,b\n1,2\n', ','.repeat(64_000), 1000 * MIB, tooLong(3)],
  ['a line of empty quoted cells', 'a,b\n1,2\n', '"",'.repeat(21_000), 1000 * MIB, tooLong(3)],
  ['a header without a line ending', '', 'c,'.repeat(32_000), 1000 * MIB, tooLong(1)],
])('an endless CSV file is refused before 3 MiB are read: %s', async (_case, head, chunk, total, message) => {
  const source = new ByteSource(repeatUpTo(head, chunk, total));
  const { error } = await readCsv(source);
  expect([error?.code, error?.message]).toEqual(['row_too_long', message]);
  expect(source.bytesRead).toBeLessThan(3 * MIB);
});

test('a CSV file of megabytes of empty lines is refused as empty', async () => {
  const source = new ByteSource(repeatUpTo('a,b\n', '\n'.repeat(64_000), 2.5 * MIB));
  expect((await readCsv(source)).error?.code).toBe('empty_file');
});

test('a CSV file may have at most 1,000,000 rows', async () => {
  function* createRows(count: number): Generator<Uint8Array> {
    yield Buffer.from('a\n');
    const some = Buffer.from('1\n'.repeat(10_000));
    for (let row = 0; row < MAX_ROWS; row += 10_000) yield some;
    for (let row = MAX_ROWS; row < count; row++) yield Buffer.from('1\n');
  }
  const readLastLine = async (source: ByteSource) => {
    const reader = openCsv(source);
    await reader.readHeader();
    let last = 0;
    for await (const batch of reader.readRecords(5_000)) last = batch.at(-1)?.line ?? 0;
    return last;
  };
  expect(await readLastLine(new ByteSource(createRows(MAX_ROWS)))).toBe(MAX_ROWS + 1);
  await expect(readLastLine(new ByteSource(createRows(MAX_ROWS + 1)))).rejects.toMatchObject({
    code: 'too_many_rows',
    line: MAX_ROWS + 2,
    message: 'The file has more than 1000000 rows. Split it into several files.',
  });
});
