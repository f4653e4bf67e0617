import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { type ReadFile, openCsv, readCsv } from '../support/data/csv.js';

const unclosedQuote = (line: number) => ({
  code: 'unclosed_quote',
  line,
  message: `A quote that opens on line ${line} is never closed. Close it, or export the file again if it was cut short.`,
});
const textAfterQuote = (line: number) => ({
  code: 'bad_quote',
  line,
  message: `On line ${line}, text follows a closing quote. Write a quote inside a cell as two quotes, and close the quote that opens the cell.`,
});
const innerQuote = (line: number) => ({
  code: 'bad_quote',
  line,
  message: `A cell on line ${line} has a quote in the middle. Enclose the cell in quotes and write the inner quote twice.`,
});
const countError = (misfits: number, rows: number, width: number, line: number) => ({
  code: 'wrong_cell_count',
  line,
  message:
    `${misfits} of ${rows} rows have more or fewer cells than the header, which has ${width}. The first is on line ${line}. ` +
    'Enclose cells that contain the delimiter in quotes, and do not leave out empty cells.',
});
const cutError = (line: number, cells: string, width: number) => ({
  code: 'cut_short',
  line,
  message: `The last line (${line}) has ${cells}, but the header has ${width}. The file was probably cut short. Export it again.`,
});
const empty = (message: string, line?: number) => ({ code: 'empty_file', line, message });
const EMPTY = empty('The file is empty. Add a header row and one row per user.');
const NO_ROWS = empty('The file has a header but no rows. Add one row per user.', 1);
const TOO_WIDE = {
  code: 'too_many_columns',
  line: 1,
  message: 'The header has 201 columns, but at most 200 are allowed. Remove columns that you do not need.',
};
const BLANK = empty('The first row of the file is blank. Put the column names in the first row.', 2);

describe.each(CHUNKINGS)('the CSV reader (%s)', (_, size) => {
  test.each<[string, string, ReadFile['error']]>([
    ['an unclosed quote', 'a,b\n1,2\n3,"4\n5,6\n', unclosedQuote(3)],
    ['an unclosed quote after multi-line rows', 'a,b\n"1\n\n1",2\n\n3,"4\n5,6\n', unclosedQuote(4)],
    ['a doubled quote in place of a closing quote', 'a,b\n1,"2""', unclosedQuote(2)],
    ['a lone quote at the end', 'a,b\n1,2\n"', unclosedQuote(3)],
    ['text after a closing quote', 'a,b\n1,2\n"3"x,4\n', textAfterQuote(3)],
    ['a space after a closing quote', 'a,b\n"1" ,2\n', textAfterQuote(2)],
    ['a quote that another row closes', 'a,b\n1,"2\n3,"4"\n', textAfterQuote(2)],
    ['a quote in the middle of a cell', 'a,b\n1,2\n\n3,5" wide\n', innerQuote(4)],
    ['a space before a quote', 'a,b\n1, "2"\n', innerQuote(2)],
    ['five short rows of 49', `a,b,c\n${'1,2\n'.repeat(5)}${'1,2,3\n'.repeat(44)}`, countError(5, 49, 3, 2)],
    ['all rows with an extra cell', `a,b\n\n${'1,2,3\n'.repeat(7)}`, countError(7, 7, 2, 3)],
    ['a final delimiter in all rows but the header', `a,b\n${'1,2,\n'.repeat(7)}`, countError(7, 7, 2, 2)],
    ['a truncated last row', 'a,b\n1,2\n3', cutError(3, '1 cell', 2)],
    ['a truncated last row with a line ending', 'a,b,c\n1,2,3\n3,4\r\n\r\n', cutError(3, '2 cells', 3)],
    ['a last row truncated before its final delimiter', 'a,b,\n1,2,\n3,4', cutError(3, '2 cells', 3)],
    ['a header without rows', 'a,b\n', NO_ROWS],
    ['a header with only empty lines after it', 'a,b\n\n\n', NO_ROWS],
  ])('refuses %s', async (_name, text, fault) => {
    for (const delimiter of [undefined, ',']) {
      const { error } = await readCsv(new ByteSource(Buffer.from(text), size), { delimiter });
      expect(error).toEqual(fault);
    }
  });

  test.each<[string, string, ReadFile['error']]>([
    ['an empty file', '', EMPTY],
    ['a byte order mark alone', '\ufeff', EMPTY],
    ['only empty lines', '\n\r\n\r', EMPTY],
    ['a blank first row', '\n , \n1,2\n', BLANK],
    ['an unclosed quote in the header', 'a,"b\n1,2\n', unclosedQuote(1)],
    ['201 columns', `${'Password,'.repeat(200)}x\n`, TOO_WIDE],
    ['a quote inside a column name', 'a,5" b\n1,2\n', innerQuote(1)],
  ])('refuses a file without a valid header: %s', async (_name, text, error) => {
    expect(await readCsv(new ByteSource(Buffer.from(text), size))).toEqual({ rows: {}, error });
  });

  test('returns the header despite an invalid row', async () => {
    const reader = openCsv(new ByteSource(Buffer.from(`a,b\n1,2"\n${'1,2\n'.repeat(20)}`), size));
    expect(await reader.readHeader()).toEqual(['a', 'b']);
    await expect(reader.readRecords(10).next()).rejects.toMatchObject({ code: 'bad_quote' });
  });
});
