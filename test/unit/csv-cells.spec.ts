import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { openCsv, readCsv } from '../support/data/csv.js';

/** Reads the header, the records and the line ends of a CSV text. */
async function readAll(text: string, size: number, delimiter?: string) {
  const reader = openCsv(new ByteSource(Buffer.from(text), size), { delimiter });
  const header = await reader.readHeader();
  const rows: [number, number | undefined, ...string[]][] = [];
  for await (const batch of reader.readRecords(4)) {
    for (const { line, cells, expectedCells } of batch) rows.push([line, expectedCells, ...cells]);
  }
  return { header, rows, line: reader.headerLine, ended: reader.endsWithLineEnd };
}

const AB = ['a', 'b'];

describe.each(CHUNKINGS)('the CSV reader (%s)', (_, size) => {
  test('marks rows with a wrong number of cells', async () => {
    const { rows } = await readAll('a,b,c\n1\n1,2,3,4\n"1,2",3\n1,2,3\n', size);
    expect(rows).toEqual([
      [2, 3, '1'],
      [3, 3, '1', '2', '3', '4'],
      [4, 3, '1,2', '3'],
      [5, undefined, '1', '2', '3'],
    ]);
  });

  test.each([
    ['accepts a file if 5 of 50', 5, 45, undefined],
    ['accepts a file if 4 of 4', 4, 0, undefined],
    ['refuses a file if 5 of 5', 5, 0, 'wrong_cell_count'],
    ['accepts a file if 30 of 300', 30, 270, undefined],
    ['refuses a file if 31 of 300', 31, 269, 'wrong_cell_count'],
  ])('%s rows have wrong cell counts', async (_name, misfits, others, code) => {
    const text = `a,b\n${'1,2,3\n'.repeat(misfits)}${'1,2\n'.repeat(others)}`;
    expect((await readCsv(new ByteSource(Buffer.from(text), size))).error?.code).toBe(code);
  });

  test.each([
    ['one delimiter', 'a;b;\r\n1;2;\r\n3;;\r\n'],
    ['several delimiters', 'a;b;;;\n1;2;;;\n3;; ;;\n'],
  ])('ignores %s at the end of every line', async (_name, text) => {
    const { header, rows } = await readAll(text, size, ';');
    const second = [3, undefined, '3', ''];
    expect([header, ...rows]).toEqual([AB, [2, undefined, '1', '2'], second]);
  });

  test('marks rows without the final delimiter of the header', async () => {
    const { rows } = await readAll('a;b;\n1;2;3\n1;2\n1;2;\n', size, ';');
    expect(rows).toEqual([
      [2, 2, '1', '2', '3'],
      [3, 3, '1', '2'],
      [4, undefined, '1', '2'],
    ]);
  });

  test.each([
    ['sep=;\n', 'a,x;b\n1;2\n', undefined, ['a,x', 'b']],
    ['sep=;\r\n', 'a;b\r\n1;2\r\n', undefined, AB],
    ['\ufeffSEP=|\r', 'a|b\r1|2\r', undefined, AB],
    ['"sep=\t"\n', 'a\tb\n1\t2\n', undefined, AB],
    ['sep=,\n', 'a;b\n1;2\n', ';', AB],
  ])('skips a first line that names the delimiter: %j', async (line, text, delimiter, header) => {
    const rows = [[2, undefined, '1', '2']];
    expect(await readAll(line + text, size, delimiter)).toMatchObject({ header, line: 1, rows });
  });

  test.each(['sep=:\n', 'sep=;;\n', 'separator\n', '\nsep=;\n'])('finds no delimiter in %j', async (line) => {
    const { header } = await readAll(`${line}a,b\n1,2\n`, size, ',').catch(() => ({ header: ['refused'] }));
    expect(header).not.toEqual(AB);
  });

  test.each([
    ['a,b\n1,2', 'no line ending'],
    ['a,b\n1,2\n', 'a line ending'],
    ['a,b\r\n1,2\r\n', 'a line ending'],
    ['a,b\r1,2\r', 'a line ending'],
    ['a,b\n1,2\n\n', 'a line ending'],
    ['a,b\n1,"2\n"', 'no line ending'],
  ])('reports that the last line of %j has %s', async (text, end) => {
    expect((await readAll(text, size)).ended).toBe(end === 'a line ending');
  });
});

test('a CSV file is refused early if all rows have wrong cell counts', async () => {
  function* rows(): Generator<Uint8Array> {
    yield Buffer.from('a,b\n');
    for (let i = 0; i < 200; i++) yield Buffer.from('1,2,3\n'.repeat(1000));
  }
  const source = new ByteSource(rows());
  expect((await readCsv(source)).error?.code).toBe('wrong_cell_count');
  expect(source.bytesRead).toBeLessThan(110 * 6000);
});
