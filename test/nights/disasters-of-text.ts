import { cellsOf, each, encodedTwice, questioned, text } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, ascii } from './people.js';

/** Cells that were converted, cut, made up, or encoded wrongly. */

const NAMES: readonly Field[] = ['firstname', 'surname', 'middle_name', 'known_as'];
const NOT_KEYS = FIELDS.filter((field) => !['external_id', 'manager', 'status', 'roles'].includes(field));
const filled = (field: Field, change: (cell: string, i: number) => string) =>
  cellsOf(field, (cell, i) => (cell === '' ? '' : change(cell, i)));
const local = (email: string): string => email.split('@')[0]!;
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
    'all texts encoded three times',
    ['garbled_text', 'changed_field surname', 'errors', 'rows'],
    text(NAMES, (cell) => encodedTwice(encodedTwice(cell))),
  ),
  stops(
    'the replacement character for all accents',
    ['garbled_text', 'changed_field surname', 'errors', 'rows broken_character'],
    text(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, '\uFFFD')),
  ),
  stops('accents folded', ['changed_field surname', 'garbled_text'], text(NAMES, ascii)),
  stops(
    'letters with accents left out',
    ['changed_field surname', 'garbled_text'],
    text(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, '')),
  ),
  stops(
    'names escaped as in HTML',
    'changed_field surname',
    text(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, (letter) => `&#${letter.codePointAt(0)};`)),
  ),
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
  stops('names encoded as in a URL', 'changed_field surname', text(NAMES, encodeURIComponent)),
  stops(
    'names in the letters of another codepage',
    ['changed_field surname', 'garbled_text'],
    text(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, 'Ř')),
  ),

  // Converted, cut, made up.
  stops(
    'every e-mail in another domain',
    'changed_field email',
    cellsOf('email', (cell) => cell.replace('@', '@new.')),
  ),
  stops(
    'e-mails in upper case',
    'changed_field email',
    cellsOf('email', (cell) => cell.toUpperCase()),
  ),
  stops(
    'private e-mails',
    'changed_field email',
    cellsOf('email', (cell) => `${local(cell)}@mail.${cell.split('@')[1]}`),
  ),
  stops(
    'e-mails that reach nobody',
    'changed_field email',
    filled('email', (cell) => `${cell}.invalid`),
  ),
  stops(
    'usernames made anew',
    'changed_field username',
    cellsOf('username', (cell, i, { surname }) => `u${ascii(surname)}${i}.${sourceOf(cell)}`),
  ),
  stops(
    'usernames with the domain in front',
    'changed_field username',
    filled('username', (cell) => `CORP\\${cell}`),
  ),
  stops(
    'usernames in upper case',
    'changed_field username',
    filled('username', (cell) => cell.toUpperCase()),
  ),
  stops(
    'login names of another provider',
    'changed_field authname',
    filled('authname', (cell) => `${cell}.old`),
  ),
  stops(
    'everything in lower case',
    'changed_field surname',
    text(NOT_KEYS, (cell) => cell.toLowerCase()),
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
    'names anonymised',
    ['changed_field firstname', 'changed_field surname'],
    each((_, i) => ({ firstname: `First ${i}`, surname: `Last ${i}` })),
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
    'departments behind the surnames',
    'changed_field surname',
    filled('surname', (cell, i) => `${cell} (D${i % 7})`),
  ),
  stops(
    'quotes left around names',
    'changed_field surname',
    text(NAMES, (cell) => cell && `""${cell}""`),
  ),
  stops(
    'phones without + and blanks',
    'changed_field phone',
    cellsOf('phone', (cell) => cell.replaceAll(/[+ ]/g, '')),
  ),
  stops(
    'phones as numbers with .0',
    'changed_field phone',
    cellsOf('phone', (cell) => `${cell.replaceAll(/[+ ]/g, '')}.0`),
  ),
  stops(
    'phones in scientific notation',
    ['errors', 'rows spreadsheet_number'],
    cellsOf('phone', () => '4.41134E+11'),
  ),
  stops(
    'phones and mobiles in scientific notation',
    'errors',
    each(() => ({ phone: '4.41134E+11', mobile: '4.47701E+11' })),
  ),
  stops(
    'phones masked',
    'changed_field phone',
    cellsOf('phone', (cell) => `+** *** ${cell.slice(-3)}`),
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
    'everything cut after twenty characters',
    ['errors', 'changed_field email', 'changed_field username'],
    text(NOT_KEYS, (cell) => cell.slice(0, 20)),
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
    'dates as serial numbers',
    'changed_field about_me',
    cellsOf('about_me', (cell, i) => cell.replace(/\d{4}-\d\d-\d\d$/, `${43000 + i}`)),
  ),
  stops(
    'all dates at the beginning of time',
    'changed_field about_me',
    cellsOf('about_me', (cell) => cell.replace(/\d{4}-\d\d-\d\d$/, '1970-01-01')),
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
