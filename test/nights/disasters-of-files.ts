import { both, cellsOf, encodedTwice, windows1252 } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, type Person, sheet } from './people.js';
import { NIGHTLY } from './stage.js';

/** Files whose bytes, header or rows are no table of people any more. */

const lines = (all: readonly Person[]): string[] => sheet(all).split('\r\n').slice(0, -1);
const joined = (some: readonly string[]): string => some.map((line) => `${line}\r\n`).join('');
const rows = (all: readonly Person[], change: (line: string, i: number) => string): string =>
  joined(lines(all).map((line, i) => (i === 0 ? line : change(line, i))));
const header = (all: readonly Person[], change: (line: string) => string): string =>
  joined(lines(all).map((line, i) => (i === 0 ? change(line) : line)));
const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le');
/** Without commas in cells. */
const plain = cellsOf('about_me', (cell) => cell.replace(',', ''));
const endsWithText: readonly Field[] = FIELDS.slice(0, FIELDS.indexOf('about_me') + 1);

export const DISASTERS_OF_FILES = [
  stops('nothing at all', 'failed', () => ''),
  stops('the header alone', 'failed empty_file', (all) => lines(all)[0]! + '\r\n'),
  stops('the page of a login', 'failed', () => '<!doctype html>\n<html><body>Please log in</body></html>\n'),
  stops('an Excel workbook', 'failed bad_encoding', () => Buffer.from('504b0304140006000800', 'hex')),
  stops('UTF-16 without a mark', 'failed bad_encoding', (all) => utf16(sheet(all))),
  stops('Windows-1252 that does not say so', 'failed bad_encoding', (all) => windows1252(sheet(all))),
  stops(
    'UTF-8 that says it is Windows-1252',
    ['garbled_text', 'changed_field surname'],
    (all) => sheet(all),
    {
      options: `${NIGHTLY}&encoding=windows-1252`,
    },
  ),
  stops('a file encoded twice', ['garbled_text', 'changed_field surname'], (all) => encodedTwice(sheet(all))),
  stops('no header', 'failed', (all) => joined(lines(all).slice(1))),
  stops('a translated header', 'failed', (all) => header(all, (line) => line.replace('ForeName', 'Vorname'))),
  stops('no column of keys', 'failed', (all) =>
    header(all, (line) => line.replace('ExternalId', 'Linkedin2')),
  ),
  stops(
    'a header with commas above rows with semicolons',
    'failed',
    (all) =>
      `${lines(all)[0]}\r\n${sheet(plain(all), { delimiter: ';' }).split('\r\n').slice(1).join('\r\n')}`,
  ),
  stops('texts with commas that are not quoted', ['failed wrong_cell_count', 'errors'], (all) =>
    rows(all, (line) => line.replaceAll('"', '')),
  ),
  stops('quotes that never close', 'failed', (all) =>
    rows(all, (line, i) => (i === 2 ? line.replace(',', ',"') : line.replaceAll('"', ''))),
  ),
  stops('a cell too many in every row', ['failed wrong_cell_count', 'errors'], (all) =>
    rows(all, (line) => line.replace(',', ',x,')),
  ),
  stops('cells one column to the left', ['errors', 'changed_field username'], (all) =>
    rows(plain(all), (line) => `${line.replace(/^([^,]*),[^,]*/, '$1')},`),
  ),
  stops('cells one column to the right', ['errors', 'changed_field username'], (all) =>
    rows(plain(all), (line) => line.replace(',', ',x,').replace(/,[^,]*$/, '')),
  ),
  stops(
    'cells one column to the right from the surname on',
    ['errors', 'changed_field surname', 'changed_field phone', 'emptied_field surname'],
    (all) =>
      rows(plain(all), (line) => {
        const cells = line.split(',');
        return [...cells.slice(0, 4), '', ...cells.slice(4, -1)].join(',');
      }),
  ),
  stops('the names of two columns swapped', ['changed_field firstname', 'changed_field surname'], (all) =>
    header(all, (line) => line.replace('ForeName,Surname', 'Surname,ForeName')),
  ),
  stops('the names of the columns one to the left', 'failed', (all) =>
    header(all, (line) => line.replace('ExternalId,', '').concat(',ExternalId2')),
  ),
  stops('a file cut inside of a row', 'failed', (all) => sheet(all).slice(0, -60)),
  stops(
    'a file cut inside of its last cell',
    'failed',
    (all) => sheet(plain(all), { fields: endsWithText }).slice(0, -6),
    {
      base: plain,
    },
  ),
  stops('a file cut inside of a quoted cell', 'failed unclosed_quote', (all) =>
    sheet(all, { quoteAll: true }).slice(0, -30),
  ),
  stops('a file cut in the middle', 'failed', (all) => {
    const whole = sheet(all);
    return whole.slice(0, whole.lastIndexOf('@', whole.length / 2));
  }),
  stops('fewer rows than the source says', 'failed unexpected_rows', (all) => all.slice(1), {
    options: `${NIGHTLY}&expected_rows=10`,
  }),
  stops(
    'the file twice in one file, with both headers, and one more phone',
    ['errors', 'rows'],
    (all) => sheet(all) + sheet(both(cellsOf('phone', (cell, i) => (i === 0 ? `${cell} x1` : cell)))(all)),
  ),
];
