import { cellsOf, each, encodedTwice, questioned, text } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, ascii } from './people.js';

/** Cells that were converted, cut, made up, or encoded wrongly. */

const NAMES: readonly Field[] = ['firstname', 'surname', 'middle_name', 'known_as'];
const NOT_KEYS = FIELDS.filter((field) => !['external_id', 'manager', 'status', 'roles'].includes(field));
const filled = (field: Field, change: (cell: string, i: number) => string) =>
  cellsOf(field, (cell, i) => (cell === '' ? '' : change(cell, i)));
const sourceOf = (username: string): string => username.split('.').at(-1)!;
/** One in ten has an accent. */
const fewAccents = cellsOf('surname', (cell, i) => (i % 10 === 3 ? `${ascii(cell)}é` : ascii(cell)));

/** One in eight has more than six letters. */
const LONG = ['Featherstone', 'Montgomery', 'Abernathy', 'Castellano'];
const shortSurnames = cellsOf('surname', (cell) => cell.slice(0, 6));
const fewLong = cellsOf('surname', (cell, i) => (i % 8 === 3 ? LONG[(i >> 3) % 4]! : cell.slice(0, 6)));

export const DISASTERS_OF_TEXT = [
  // Encoded wrongly.
  stops('? for all accents', ['garbled_text', 'changed_field surname'], text(NAMES, questioned)),
  stops('? for the accents of the one in ten who has one', 'garbled_text', text(NAMES, questioned), {
    base: fewAccents,
    sizes: [50, 400],
  }),
  stops('all texts encoded twice', ['garbled_text', 'changed_field surname'], text(NAMES, encodedTwice)),
  stops(
    'the names of the one in ten with an accent encoded twice',
    'garbled_text',
    text(NAMES, encodedTwice),
    {
      base: fewAccents,
      sizes: [50, 400],
    },
  ),
  stops(
    'the replacement character for all accents',
    ['garbled_text', 'changed_field surname', 'errors', 'rows broken_character'],
    text(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, '\uFFFD')),
  ),
  stops('accents folded', ['changed_field surname', 'garbled_text'], text(NAMES, ascii)),
  stops(
    'names of the one in ten with an accent escaped as in HTML',
    'garbled_text',
    text(NAMES, (cell) => cell.replaceAll('é', '&eacute;')),
    { base: fewAccents, sizes: [50, 400] },
  ),
  stops('the long surnames, one in eight, cut after six characters', 'garbled_text', shortSurnames, {
    base: fewLong,
    sizes: [50, 400],
  }),

  // Converted, cut, made up.
  stops(
    'every e-mail in another domain',
    'changed_field email',
    cellsOf('email', (cell) => cell.replace('@', '@new.')),
  ),
  stops(
    'usernames made anew',
    'changed_field username',
    cellsOf('username', (cell, i, { surname }) => `u${ascii(surname)}${i}.${sourceOf(cell)}`),
  ),
  stops(
    'login names of another provider',
    'changed_field authname',
    filled('authname', (cell) => `${cell}.old`),
  ),
  stops(
    'everything in upper case, the keys too',
    ['errors', 'changed_keys', 'deactivations', 'changed_field username'],
    text(
      FIELDS.filter((field) => field !== 'linkedin'),
      (cell) => cell.toUpperCase(),
    ),
  ),
  stops(
    'names in upper case',
    'changed_field surname',
    text(NAMES, (cell) => cell.toUpperCase()),
  ),
  stops(
    'names, addresses and phones anonymised',
    ['changed_field email', 'changed_field surname'],
    each(({ email }, i) => ({
      email: `user${i}@anon.${email.split('@')[1]}`,
      surname: `Last ${i}`,
      phone: `${i}`,
    })),
  ),
  stops(
    'middle names added to the forenames',
    'changed_field firstname',
    each(({ firstname, middle_name }) => ({ firstname: `${firstname} ${middle_name}`.trim() })),
  ),
  stops(
    'surname and forename in one cell',
    'changed_field surname',
    each(({ firstname, surname }) => ({ surname: `${surname}, ${firstname}`, firstname })),
  ),
  stops(
    'phones without + and blanks',
    'changed_field phone',
    cellsOf('phone', (cell) => cell.replaceAll(/[+ ]/g, '')),
  ),
  stops(
    'phones in scientific notation',
    ['errors', 'rows spreadsheet_number'],
    cellsOf('phone', () => '4.41134E+11'),
  ),
  stops(
    'phones cut after eight characters',
    ['changed_field phone', 'same_value'],
    cellsOf('phone', (cell) => cell.slice(0, 8)),
  ),
  stops(
    'everything cut after ten characters',
    ['errors', 'changed_field username'],
    text(NOT_KEYS, (cell) => cell.slice(0, 10)),
  ),
  stops(
    'texts about people cut after twelve characters',
    'changed_field about_me',
    cellsOf('about_me', (cell) => cell.slice(0, 12)),
  ),
  stops(
    'days and months swapped',
    'changed_field about_me',
    cellsOf('about_me', (cell) => cell.replace(/(\d\d)-(\d\d)$/, '$2/$1')),
  ),
  stops(
    "everybody's manager is the manager above",
    ['changed_field manager_uuid', 'emptied_field manager_uuid'],
    each(({ manager }, _, all) => ({
      manager: all.find(({ external_id }) => external_id === manager)?.manager ?? '',
    })),
  ),
  stops(
    'managers by name',
    ['errors', 'rows unknown_reference'],
    filled('manager', () => 'Turner, Karen'),
  ),
  stops(
    'everybody their own manager',
    ['errors', 'rows self_reference'],
    each(({ external_id }) => ({ manager: external_id })),
  ),
];
