import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { counted, csv, imported, linked } from '../support/app/imports.js';

/** Which files are accepted, and which are refused as a whole. */
let app: TestApp;
let n = 0;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

/** A file with a new user of this surname. */
const file = (surname: string, delimiter = ',') => {
  const id = `f${++n}`;
  const line = (...cells: string[]) => `${cells.join(delimiter)}\r\n`;
  return {
    id,
    text: line('ExternalId', 'Username', 'Email', 'Surname') + line(id, id, `${id}@example.org`, surname),
  };
};
const BOM = '\ufeff';

describe('encodings', () => {
  test.each<[string, (text: string) => Buffer, string, string]>([
    ['UTF-8', (text) => Buffer.from(text), '', 'Łukasiński 佐藤 😀'],
    ['UTF-8 with a byte order mark', (text) => Buffer.from(BOM + text), '', 'Łukasiński 佐藤 😀'],
    [
      'UTF-16LE with a byte order mark',
      (text) => Buffer.from(BOM + text, 'utf16le'),
      '',
      'Łukasiński 佐藤 😀',
    ],
    [
      'UTF-16BE with a byte order mark',
      (text) => Buffer.from(BOM + text, 'utf16le').swap16(),
      '',
      'Łukasiński 佐藤',
    ],
    ['windows-1252 by name', (text) => Buffer.from(text, 'latin1'), 'encoding=windows-1252', 'Müller'],
    ['LF alone', (text) => Buffer.from(text.replaceAll('\r\n', '\n')), '', 'Lee'],
    ['no line end at the end', (text) => Buffer.from(text.trimEnd()), 'dataset=endless', 'Lee'],
  ])('%s', async (_, encode, options, surname) => {
    const { id, text } = file(surname);
    const run = await imported(app.key, encode(text), options);
    expect([counted(run), run.problems]).toEqual([{ created: 1 }, []]);
    expect((await linked(app.key, id)).surname).toBe(surname);
  });
});

describe('delimiters', () => {
  test.each([',', ';', '\t', '|'])('%j is found from the header', async (delimiter) => {
    const { id, text } = file('Lee', delimiter);
    await imported(app.key, text);
    expect((await linked(app.key, id)).surname).toBe('Lee');
  });
  test('a given one is used', async () => {
    const run = await imported(app.key, file('Lee', ';').text, 'delimiter=,');
    const codes = run.problems.map(({ code }: Json) => code);
    expect([run.state, codes]).toEqual(['failed', ['missing_column', 'unknown_column']]);
  });
});

describe('columns', () => {
  test.each([
    [['external_id', 'USERNAME', 'e-mail', 'first name', 'Last_Name']],
    [['GUID', 'User Name', 'Email', 'FirstName', 'LastName']],
    [['ExternalId', 'username', 'EMAIL', 'fore-name', 'SUR NAME']],
  ])('%j are known', async (header) => {
    const id = `h${++n}`;
    const run = await imported(app.key, csv(header.join(','), `${id},${id},${id}@example.org,Ann,Lee`));
    expect([counted(run), run.problems]).toEqual([{ created: 1 }, []]);
    expect(await linked(app.key, id)).toMatchObject({ firstname: 'Ann', surname: 'Lee' });
  });
  test('unknown ones are ignored on demand, and those that begin with _ always', async () => {
    const id = `h${++n}`;
    const text = csv('_line,ExternalId,Shoe size,Username,Email', `7,${id},43,${id},${id}@example.org`);
    expect((await imported(app.key, text)).problems[0].code).toBe('unknown_column');
    expect(counted(await imported(app.key, text, 'ignore_unknown_columns=true'))).toEqual({ created: 1 });
  });
});

/** [what, file, options, code, line] */
const REFUSED: [string, string | Buffer, string, string, number | null][] = [
  ['nothing at all', '', '', 'empty_file', null],
  ['empty lines only', '\r\n\r\n', '', 'empty_file', null],
  ['a header alone', csv('ExternalId,Username'), '', 'empty_file', 1],
  ['no ExternalId', csv('Username,Email', 'a,a@example.org'), '', 'missing_column', 1],
  ['an unknown column', csv('ExternalId,Shoe size', 'a,43'), '', 'unknown_column', 1],
  ['a column twice', csv('ExternalId,Email,EMAIL', 'a,b,c'), '', 'duplicate_column', 1],
  ['a column and its alias', csv('ExternalId,Surname,LastName', 'a,b,c'), '', 'duplicate_column', 1],
  ['two columns without a name that is known', csv('ExternalId,GUID', 'a,b'), '', 'duplicate_column', 1],
  ['a password', csv('ExternalId,Password', 'a,hunter22'), '', 'password_column', 1],
  [
    'a password among ignored columns',
    csv('ExternalId,pass_word', 'a,hunter22'),
    'ignore_unknown_columns=true',
    'password_column',
    1,
  ],
  [
    'bad bytes',
    Buffer.from([...Buffer.from('ExternalId,Surname\na,b\nc,'), 0xfc, 0x0a]),
    '',
    'bad_encoding',
    3,
  ],
  ['UTF-16 without a mark', Buffer.from('ExternalId,Surname\na,b\n', 'utf16le'), '', 'bad_encoding', 1],
  ['NUL', 'ExternalId,Surname\na,b\0\n', '', 'bad_encoding', 2],
  ['an Excel workbook', Buffer.from([0x50, 0x4b, 3, 4, 0x14, 0, 8, 8]), '', 'bad_encoding', 1],
  ['an unclosed quote', csv('ExternalId,Surname', 'a,b', 'c,"d', 'e,f'), '', 'unclosed_quote', 3],
  ['a quote inside a cell', csv('ExternalId,Surname', 'a,b "c" d'), '', 'bad_quote', 2],
  ['text after a quoted cell', csv('ExternalId,Surname', 'a,"b"c'), '', 'bad_quote', 2],
  ['a last row that is too short', csv('ExternalId,Surname,Email', 'a,b,c', 'd,e'), '', 'cut_short', 3],
  [
    'rows that are too long',
    csv('ExternalId,Surname', 'a,b', ...Array.from({ length: 5 }, () => 'd,e,f')),
    '',
    'wrong_cell_count',
    3,
  ],
  [
    'ten thousand columns',
    `ExternalId${',x'.repeat(10_000)}\na\n`,
    'ignore_unknown_columns=true',
    'too_many_columns',
    1,
  ],
  ['a cell of a megabyte', csv('ExternalId,AboutMe', `a,${'x'.repeat(2 ** 20)}`), '', 'row_too_long', 2],
  [
    'fewer rows than expected',
    csv('ExternalId,Username,Email', 'z,z,z@example.org'),
    'expected_rows=2',
    'unexpected_rows',
    null,
  ],
];

test.each(REFUSED)(
  '%s: refused whole, with code and line, and nothing written',
  async (_, content, options, code, line) => {
    const before = (await app.key.get('/users/search')).body.Count;
    const run = await imported(app.key, content, options);
    expect([run.state, run.problems.length, run.problems[0].code, run.problems[0].line]).toEqual([
      'failed',
      1,
      code,
      line,
    ]);
    expect(run.problems[0].message).not.toContain('hunter22');
    expect(run.counts).toMatchObject({ created: 0, error: 0 });
    expect((await app.key.get(`/imports/${run.id}/rows`)).body).toEqual({ Count: 0, Results: [] });
    expect((await app.key.get('/users/search')).body.Count).toBe(before);
  },
);
