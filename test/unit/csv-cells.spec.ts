import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { openCsv, readCsv } from '../support/data/csv.js';

/** Rows that do not fit the header, and what spreadsheets add to a file. */
async function records(text: string, size: number, delimiter?: string) {
  const reader = openCsv(new ByteSource(Buffer.from(text), size), { delimiter });
  const header = await reader.readHeader();
  const rows: [number, number | undefined, ...string[]][] = [];
  for await (const batch of reader.readRecords(4)) {
    rows.push(
      ...batch.map(({ line, cells, expectedCells }): (typeof rows)[number] => [
        line,
        expectedCells,
        ...cells,
      ]),
    );
  }
  return { header, rows, line: reader.headerLine, ended: reader.endsWithLineEnd };
}

const AB = ['a', 'b'];

describe.each(CHUNKINGS)('%s', (_, size) => {
  test('rows with too few or too many cells are read and marked', async () => {
    const { rows } = await records('a,b,c\n1\n1,2,3,4\n"1,2",3\n1,2,3\n', size);
    expect(rows).toEqual([
      [2, 3, '1'],
      [3, 3, '1', '2', '3', '4'],
      [4, 3, '1,2', '3'],
      [5, undefined, '1', '2', '3'],
    ]);
  });

  test.each([
    ['five of fifty', 5, 45, undefined],
    ['four of four', 4, 0, undefined],
    ['five of five', 5, 0, 'wrong_cell_count'],
    ['thirty of three hundred', 30, 270, undefined],
    ['thirty-one of three hundred', 31, 269, 'wrong_cell_count'],
  ])('%s', async (_name, misfits, others, code) => {
    const text = `a,b\n${'1,2,3\n'.repeat(misfits)}${'1,2\n'.repeat(others)}`;
    expect((await readCsv(new ByteSource(Buffer.from(text), size))).error?.code).toBe(code);
  });

  test.each([
    ['one', 'a;b;\r\n1;2;\r\n3;;\r\n'],
    ['several', 'a;b;;;\n1;2;;;\n3;; ;;\n'],
  ])('a delimiter at the end of every line is harmless: %s', async (_name, text) => {
    const { header, rows } = await records(text, size, ';');
    expect([header, rows]).toEqual([
      AB,
      [
        [2, undefined, '1', '2'],
        [3, undefined, '3', ''],
      ],
    ]);
  });

  test('cells below a column without a name do not fit, and neither do rows without the delimiter at the end', async () => {
    const { rows } = await records('a;b;\n1;2;3\n1;2\n1;2;\n', size, ';');
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
  ])('%j names the delimiter and is no line of the file', async (line, text, delimiter, header) => {
    expect(await records(line + text, size, delimiter)).toMatchObject({
      header,
      line: 1,
      rows: [[2, undefined, '1', '2']],
    });
  });

  test.each(['sep=:\n', 'sep=;;\n', 'separator\n', '\nsep=;\n'])('%j does not', async (line) => {
    const { header } = await records(`${line}a,b\n1,2\n`, size, ',').catch(() => ({ header: ['refused'] }));
    expect(header).not.toEqual(AB);
  });

  test.each([
    ['a,b\n1,2', false],
    ['a,b\n1,2\n', true],
    ['a,b\r\n1,2\r\n', true],
    ['a,b\r1,2\r', true],
    ['a,b\n1,2\n\n', true],
    ['a,b\n1,"2\n"', false],
  ])('%j: whether the last line has a line end', async (text, ended) => {
    expect((await records(text, size)).ended).toBe(ended);
  });
});

test('a file of rows that do not fit is refused before its end', async () => {
  function* rows(): Generator<Uint8Array> {
    yield Buffer.from('a,b\n');
    for (let i = 0; i < 200; i++) yield Buffer.from('1,2,3\n'.repeat(1000));
  }
  const source = new ByteSource(rows());
  expect((await readCsv(source)).error?.code).toBe('wrong_cell_count');
  expect(source.taken).toBeLessThan(110 * 6000);
});
