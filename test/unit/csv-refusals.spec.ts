import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { openCsv, readCsv } from '../support/data/csv.js';

const UNCLOSED = (line: number) =>
  `A quote that opens on line ${line} is never closed; close it, or export the file again: it may have been cut short.`;
const AFTER = (line: number) =>
  `On line ${line} text follows a closing quote; double a quote that belongs to the text, and close the quote that opens a cell.`;
const MIDST = (line: number) =>
  `A cell on line ${line} has a quote in the middle; put the cell into quotes and double the quote.`;
const COUNT = (misfits: number, rows: number, width: number, line: number) =>
  `${misfits} of ${rows} rows have more or fewer cells than the header, which has ${width}; the first is on line ${line}. ` +
  'Put a cell that holds the delimiter into quotes, and keep empty cells.';
const CUT = (line: number, cells: string, width: number) =>
  `Line ${line}, the last one, has ${cells}, and the header has ${width}: the file was probably cut short; export it again.`;
const EMPTY = 'The file is empty; it needs a header row and a row for each user.';

describe.each(CHUNKINGS)('%s', (_, size) => {
  test.each<[string, string, string, number | undefined, string]>([
    ['a quote that stays open', 'a,b\n1,2\n3,"4\n5,6\n', 'unclosed_quote', 3, UNCLOSED(3)],
    [
      'an open quote after records of several lines',
      'a,b\n"1\n\n1",2\n\n3,"4\n5,6\n',
      'unclosed_quote',
      4,
      UNCLOSED(4),
    ],
    ['a doubled quote that was to close', 'a,b\n1,"2""', 'unclosed_quote', 2, UNCLOSED(2)],
    ['a quote alone at the end', 'a,b\n1,2\n"', 'unclosed_quote', 3, UNCLOSED(3)],
    ['text after a closing quote', 'a,b\n1,2\n"3"x,4\n', 'bad_quote', 3, AFTER(3)],
    ['a space after a closing quote', 'a,b\n"1" ,2\n', 'bad_quote', 2, AFTER(2)],
    ['a quote that another row closes', 'a,b\n1,"2\n3,"4"\n', 'bad_quote', 2, AFTER(2)],
    ['a quote in a cell', 'a,b\n1,2\n\n3,5" wide\n', 'bad_quote', 4, MIDST(4)],
    ['a space before a quote', 'a,b\n1, "2"\n', 'bad_quote', 2, MIDST(2)],
    [
      'five rows with a cell too few, and nine in ten that fit',
      `a,b,c\n${'1,2\n'.repeat(5)}${'1,2,3\n'.repeat(44)}`,
      'wrong_cell_count',
      2,
      COUNT(5, 49, 3, 2),
    ],
    [
      'all rows with a cell too many',
      `a,b\n\n${'1,2,3\n'.repeat(7)}`,
      'wrong_cell_count',
      3,
      COUNT(7, 7, 2, 3),
    ],
    [
      'rows whose delimiter at the end the header does not have',
      `a,b\n${'1,2,\n'.repeat(7)}`,
      'wrong_cell_count',
      2,
      COUNT(7, 7, 2, 2),
    ],
    ['a last row cut short', 'a,b\n1,2\n3', 'cut_short', 3, CUT(3, '1 cell', 2)],
    [
      'a last row cut short, with a line end',
      'a,b,c\n1,2,3\n3,4\r\n\r\n',
      'cut_short',
      3,
      CUT(3, '2 cells', 3),
    ],
    [
      'a last row cut before its delimiter at the end',
      'a,b,\n1,2,\n3,4',
      'cut_short',
      3,
      CUT(3, '2 cells', 3),
    ],
    [
      'a header alone',
      'a,b\n',
      'empty_file',
      1,
      'The file has a header and no rows; add a row for each user.',
    ],
    [
      'a header and empty lines',
      'a,b\n\n\n',
      'empty_file',
      1,
      'The file has a header and no rows; add a row for each user.',
    ],
    [
      'NUL',
      'a,b\n1,2\n3,4\0\n',
      'bad_encoding',
      3,
      'Line 3 holds a NUL character; the file is probably UTF-16 without a byte order mark: save it as UTF-8, or name its encoding with encoding=….',
    ],
  ])('refused: %s', async (_name, text, code, line, message) => {
    for (const delimiter of [undefined, ',']) {
      const { error } = await readCsv(new ByteSource(Buffer.from(text), size), { delimiter });
      expect(error).toEqual({ code, line, message });
    }
  });

  test.each<[string, string, string, number | undefined, string]>([
    ['nothing', '', 'empty_file', undefined, EMPTY],
    ['a mark alone', '\ufeff', 'empty_file', undefined, EMPTY],
    ['empty lines', '\n\r\n\r', 'empty_file', undefined, EMPTY],
    [
      'a blank first row',
      '\n , \n1,2\n',
      'empty_file',
      2,
      'The first row of the file is blank; it must hold the names of the columns.',
    ],
    ['a quote open in the header', 'a,"b\n1,2\n', 'unclosed_quote', 1, UNCLOSED(1)],
    ['a quote inside a name', 'a,5" b\n1,2\n', 'bad_quote', 1, MIDST(1)],
  ])('no header: %s', async (_name, text, code, line, message) => {
    expect(await readCsv(new ByteSource(Buffer.from(text), size))).toEqual({
      rows: [],
      error: { code, line, message },
    });
  });

  test('200 columns are read', async () => {
    const text = `${'c,'.repeat(199)}c\n${'1,'.repeat(199)}1\n`;
    const { header, rows } = await readCsv(new ByteSource(Buffer.from(text), size));
    expect([header?.length, rows[0]?.length]).toEqual([200, 201]);
  });

  test('a header is returned although a later row is at fault', async () => {
    const reader = openCsv(new ByteSource(Buffer.from(`a,b\n1,2"\n${'1,2\n'.repeat(20)}`), size));
    expect(await reader.header()).toEqual(['a', 'b']);
    await expect(reader.records(10).next()).rejects.toMatchObject({ code: 'bad_quote' });
  });
});

test('no message quotes a cell', async () => {
  for (const text of [
    'a,b\n1,2\nsecret\n',
    `a,b\n${'secret\n'.repeat(9)}`,
    'a,b\n"secret"secret,1\n',
    'a,b\nsecret"secret,1\n',
    'a,b\n1,"secret\n',
  ]) {
    const { error } = await readCsv(new ByteSource(Buffer.from(text)));
    expect(error?.message).toMatch(/^[A-Z\d].*\.$/);
    expect(error?.message).not.toContain('secret');
  }
});
