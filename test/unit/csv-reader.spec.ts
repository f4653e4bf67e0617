import { describe, expect, test } from '@jest/globals';
import type { CsvRecord } from '../../src/import/file/record-parser.js';
import { ByteSource, CHUNKINGS, repeatUpTo } from '../support/data/bytes.js';
import { openCsv, readCsv } from '../support/data/csv.js';

const MIB = 1024 * 1024;
const AB = ['a', 'b'];

describe.each(CHUNKINGS)('the CSV reader (%s)', (_, size) => {
  test.each<[string, string, Record<number, string[]>]>([
    ['LF line endings', 'a,b\n1,2\n3,4\n', { 2: ['1', '2'], 3: ['3', '4'] }],
    ['CRLF line endings', 'a,b\r\n1,2\r\n3,4\r\n', { 2: ['1', '2'], 3: ['3', '4'] }],
    ['CR line endings', 'a,b\r1,2\r3,4\r', { 2: ['1', '2'], 3: ['3', '4'] }],
    ['mixed line endings', 'a,b\n1,2\r\n3,4\r5,6\n', { 2: ['1', '2'], 3: ['3', '4'], 4: ['5', '6'] }],
    ['a last row without a line ending', 'a,b\n1,2\n3,4', { 2: ['1', '2'], 3: ['3', '4'] }],
    ['a last row that ends in an empty cell', 'a,b\n1,', { 2: ['1', ''] }],
    ['a last row that ends in a quote', 'a,b\n1,"2"', { 2: ['1', '2'] }],
    ['a byte order mark', '\ufeffa,b\n1,2\n', { 2: ['1', '2'] }],
    ['a byte order mark before a quote', '\ufeff"a",b\n1,2\n', { 2: ['1', '2'] }],
    ['quoted cells', '"a","b"\n"1","2"\n', { 2: ['1', '2'] }],
    ['quoted delimiters', 'a,b\n"1,2","3,"\n', { 2: ['1,2', '3,'] }],
    ['doubled quotes', 'a,b\n"a ""b"" c",""""\n', { 2: ['a "b" c', '"'] }],
    ['empty cells', 'a,b\n1,\n"",2\n', { 2: ['1', ''], 3: ['', '2'] }],
    ['rows of empty cells as empty lines', 'a,b\n,\n"",""\n \n1,2\n , ,\n', { 5: ['1', '2'] }],
    ['leading and trailing blanks unchanged', 'a,b\n 1 ,\t\n', { 2: [' 1 ', '\t'] }],
    ['an apostrophe as text', "a,b\n'1,2'\n", { 2: ["'1", "2'"] }],
    ['letters of any script', 'a,b\né東,😀\n', { 2: ['é東', '😀'] }],
    ['quoted line endings unchanged', 'a,b\n"1\n2\r\n3\r4",5\n', { 2: ['1\n2\r\n3\r4', '5'] }],
    ['a multi-line row, counted once', 'a,b\n"1\n\n2",3\n4,5\n', { 2: ['1\n\n2', '3'], 3: ['4', '5'] }],
    ['a quoted name in the header', '"a",b\n1,2\n', { 2: ['1', '2'] }],
    ['an empty line and counts it', 'a,b\n1,2\n\n3,4\n', { 2: ['1', '2'], 4: ['3', '4'] }],
    ['empty lines with mixed ends', 'a,b\r\n\r\n\n1,2\r\n\r\n\r3,4\n\n\n', { 4: ['1', '2'], 7: ['3', '4'] }],
    ['empty lines before the header', '\n\r\na,b\n1,2\n', { 4: ['1', '2'] }],
    ['empty lines at the end', 'a,b\n1,2\n\n\n\n\n\n', { 2: ['1', '2'] }],
  ])('reads %s', async (_name, text, rows) => {
    expect(await readCsv(new ByteSource(Buffer.from(text), size))).toEqual({ header: AB, rows });
  });

  test.each([
    ['an empty quoted cell as a row', 'a\n""\n\n1\n', { 2: [''], 4: ['1'] }],
    ['a blank cell as a row', 'a\n \n1\n', { 2: [' '], 3: ['1'] }],
  ])('reads %s in a file with one column', async (_name, text, rows) => {
    expect(await readCsv(new ByteSource(Buffer.from(text), size))).toEqual({ header: ['a'], rows });
  });

  test('uses the requested encoding and refuses invalid bytes', async () => {
    const text = Buffer.from('a,b\n1,Jos\xe9\n', 'latin1');
    const readAs = (encoding?: string) => readCsv(new ByteSource(text, size), { encoding });
    expect((await readAs('windows-1252')).rows).toEqual({ 2: ['1', 'José'] });
    expect((await readAs()).error).toMatchObject({ code: 'bad_encoding', line: 2 });
    expect((await readAs('klingon')).error?.code).toBe('unknown_encoding');
  });
});

test.each([
  [1, [1, 1, 1, 1, 1]],
  [2, [2, 2, 1]],
  [5, [5]],
  [6, [5]],
])('CSV records are returned in batches of at most %d', async (size, lengths) => {
  for (const [, chunk] of CHUNKINGS) {
    const reader = openCsv(new ByteSource(Buffer.from(`a,b\n${'1,2\n'.repeat(5)}`), chunk));
    await reader.readHeader();
    const batches: CsvRecord[][] = [];
    for await (const batch of reader.readRecords(size)) batches.push(batch);
    expect(batches.map(({ length }) => length)).toEqual(lengths);
    expect(batches.flat().map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
  }
});

const endlessRows = repeatUpTo.bind(null, 'a,b\n', '1,2\n'.repeat(1_000), 100 * MIB);

test('the CSV reader reads no more than the requested batch needs', async () => {
  const source = new ByteSource(endlessRows());
  const reader = openCsv(source);
  await reader.readHeader();
  const records = reader.readRecords(1_000);
  await records.next();
  const before = source.bytesRead;
  await new Promise(setImmediate);
  expect(source.bytesRead).toBe(before);
  expect(before).toBeLessThan(100_000);
  await records.return(undefined);
});

test.each([
  ['in chunks', endlessRows],
  ['in one chunk', () => [Buffer.concat([...repeatUpTo('a,b\n', '1,2\n', MIB)])]],
])('a CSV file is closed if reading ends early (input %s)', async (_name, chunks) => {
  for (const delimiter of [undefined, ',']) {
    const source = new ByteSource(chunks());
    const reader = openCsv(source, { delimiter });
    await reader.readHeader();
    for await (const batch of reader.readRecords(1)) {
      expect(batch).toEqual([{ line: 2, cells: ['1', '2'] }]);
      break;
    }
    expect(source.closed).toBe(true);
  }
});

test('a CSV file with a blank header is refused early', async () => {
  const source = new ByteSource(repeatUpTo(' , \n', '1,2\n'.repeat(1_000), 100 * MIB));
  expect((await readCsv(source)).error?.code).toBe('empty_file');
  expect(source.bytesRead).toBeLessThan(100_000);
});

test('the CSV reader passes on a read error of the file unchanged', async () => {
  const fault = new Error('disk');
  function* broken(): Generator<Uint8Array> {
    yield* repeatUpTo('a,b\n', '1,2\n', 100_000);
    throw fault;
  }
  await expect(readCsv(new ByteSource(broken()))).rejects.toBe(fault);
});
