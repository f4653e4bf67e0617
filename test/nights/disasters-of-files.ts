import { combine, mapCells, encodeTwice, toWindows1252 } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, type Person, toCsv } from './people.js';
import { NIGHTLY } from './stage.js';

/** Files with a damaged encoding, header or structure. */

const linesOf = (all: readonly Person[]): string[] => toCsv(all).split('\r\n').slice(0, -1);
const joinLines = (some: readonly string[]): string => some.map((line) => `${line}\r\n`).join('');
const editRows = (all: readonly Person[], change: (line: string, i: number) => string): string =>
  joinLines(linesOf(all).map((line, i) => (i === 0 ? line : change(line, i))));
const editHeader = (all: readonly Person[], change: (line: string) => string): string =>
  joinLines(linesOf(all).map((line, i) => (i === 0 ? change(line) : line)));
const toUtf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le');
/** Removes the commas from the cells. */
const dropCommas = mapCells('about_me', (cell) => cell.replace(',', ''));
const endsWithText: readonly Field[] = FIELDS.slice(0, FIELDS.indexOf('about_me') + 1);

export const DISASTERS_OF_FILES = [
  stops('an empty file', 'failed', () => ''),
  stops('a header without rows', 'failed empty_file', (all) => linesOf(all)[0]! + '\r\n'),
  stops('an HTML login page', 'failed', () => '<!doctype html>\n<html><body>Please log in</body></html>\n'),
  stops('an Excel workbook', 'failed bad_encoding', () => Buffer.from('504b0304140006000800', 'hex')),
  stops('UTF-16 without a byte order mark', 'failed bad_encoding', (all) => toUtf16(toCsv(all))),
  stops('Windows-1252 without the encoding option', 'failed bad_encoding', (all) =>
    toWindows1252(toCsv(all)),
  ),
  stops(
    'UTF-8 with the option encoding=windows-1252',
    ['errors', 'rows broken_character'],
    (all) => toCsv(all),
    { options: `${NIGHTLY}&encoding=windows-1252` },
  ),
  stops('a file encoded twice as UTF-8', ['errors', 'rows broken_character'], (all) =>
    encodeTwice(toCsv(all)),
  ),
  stops('a missing header', 'failed', (all) => joinLines(linesOf(all).slice(1))),
  stops('a translated column name in the header', 'failed', (all) =>
    editHeader(all, (line) => line.replace('ForeName', 'Vorname')),
  ),
  stops('a missing ExternalId column', 'failed', (all) =>
    editHeader(all, (line) => line.replace('ExternalId', 'Linkedin2')),
  ),
  stops(
    'a header with commas and rows with semicolons',
    'failed',
    (all) =>
      `${linesOf(all)[0]}\r\n${toCsv(dropCommas(all), { delimiter: ';' }).split('\r\n').slice(1).join('\r\n')}`,
  ),
  stops('unquoted cells with commas', ['failed wrong_cell_count', 'errors'], (all) =>
    editRows(all, (line) => line.replaceAll('"', '')),
  ),
  stops('an unclosed quote', 'failed', (all) =>
    editRows(all, (line, i) => (i === 2 ? line.replace(',', ',"') : line.replaceAll('"', ''))),
  ),
  stops('one additional cell in every row', ['failed wrong_cell_count', 'errors'], (all) =>
    editRows(all, (line) => line.replace(',', ',x,')),
  ),
  stops('cells shifted one column to the left', ['errors', 'exchanged_values'], (all) =>
    editRows(dropCommas(all), (line) => `${line.replace(/^([^,]*),[^,]*/, '$1')},`),
  ),
  stops('cells shifted one column to the right', ['errors', 'exchanged_values'], (all) =>
    editRows(dropCommas(all), (line) => line.replace(',', ',x,').replace(/,[^,]*$/, '')),
  ),
  stops('the headers of two columns swapped', 'exchanged_values', (all) =>
    editHeader(all, (line) => line.replace('ForeName,Surname', 'Surname,ForeName')),
  ),
  stops('all headers shifted one column to the left', 'failed', (all) =>
    editHeader(all, (line) => line.replace('ExternalId,', '').concat(',ExternalId2')),
  ),
  stops('a file cut off within a row', 'failed', (all) => toCsv(all).slice(0, -60)),
  stops(
    'a file cut off within its last cell',
    'failed',
    (all) => toCsv(dropCommas(all), { fields: endsWithText }).slice(0, -6),
    { base: dropCommas },
  ),
  stops('a file cut off within a quoted cell', 'failed unclosed_quote', (all) =>
    toCsv(all, { quoteAll: true }).slice(0, -30),
  ),
  stops('a file cut off in the middle', 'failed', (all) => {
    const whole = toCsv(all);
    return whole.slice(0, whole.lastIndexOf('@', whole.length / 2));
  }),
  stops('fewer rows than the option expected_rows', 'failed unexpected_rows', (all) => all.slice(1), {
    options: `${NIGHTLY}&expected_rows=10`,
  }),
  stops(
    'the file appended to itself with its header and one changed phone',
    ['errors', 'rows'],
    (all) =>
      toCsv(all) + toCsv(combine(mapCells('phone', (cell, i) => (i === 0 ? `${cell} x1` : cell)))(all)),
  ),
];
