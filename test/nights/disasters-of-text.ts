import { mapCells, patch, encodeTwice, maskAccents, mapText } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, toAscii } from './people.js';

/** Cells that were converted, cut off, anonymized or wrongly encoded. */

const NAMES: readonly Field[] = ['firstname', 'surname', 'middle_name', 'known_as'];
const edit = (field: Field, change: (cell: string, i: number) => string) =>
  mapCells(field, (cell, i) => (cell === '' ? '' : change(cell, i)));
/** Gives one surname in ten an accent. */
const giveFewAccents = mapCells('surname', (cell, i) => (i % 10 === 3 ? `${toAscii(cell)}é` : toAscii(cell)));

/** Surnames of more than six letters, which one person in eight gets. */
const LONG = ['Featherstone', 'Montgomery', 'Abernathy', 'Castellano'];
const shortenSurnames = mapCells('surname', (cell) => cell.slice(0, 6));
const giveFewLong = mapCells('surname', (cell, i) => (i % 8 === 3 ? LONG[(i >> 3) % 4]! : cell.slice(0, 6)));

export const DISASTERS_OF_TEXT = [
  // Wrongly encoded.
  stops(
    'names with ? in place of accents, one in ten with an accent',
    'garbled_text',
    mapText(NAMES, maskAccents),
    { base: giveFewAccents, sizes: [50, 400] },
  ),
  stops('UTF-8 names encoded twice, one in ten with an accent', 'garbled_text', mapText(NAMES, encodeTwice), {
    base: giveFewAccents,
    sizes: [50, 400],
  }),
  stops(
    'names with replacement characters in place of accents',
    ['garbled_text', 'changed_field surname', 'errors', 'rows broken_character'],
    mapText(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, '\uFFFD')),
  ),
  stops('names without their accents', ['changed_field surname', 'garbled_text'], mapText(NAMES, toAscii)),
  stops(
    'names with HTML escapes, one in ten with an accent',
    'garbled_text',
    mapText(NAMES, (cell) => cell.replaceAll('é', '&eacute;')),
    { base: giveFewAccents, sizes: [50, 400] },
  ),
  stops('surnames cut after six characters, one in eight of them longer', 'garbled_text', shortenSurnames, {
    base: giveFewLong,
    sizes: [50, 400],
  }),

  // Converted, cut off or anonymized.
  stops(
    'e-mails in upper case',
    'changed_field email',
    mapCells('email', (cell) => cell.toUpperCase()),
  ),
  stops(
    'usernames in upper case',
    'changed_field username',
    edit('username', (cell) => cell.toUpperCase()),
  ),
  stops(
    'logins of another provider',
    'changed_field authname',
    edit('authname', (cell) => `${cell}.old`),
  ),
  stops(
    'all cells including external ids in upper case',
    ['errors', 'changed_keys', 'deactivations', 'changed_field username'],
    mapText(
      FIELDS.filter((field) => field !== 'linkedin'),
      (cell) => cell.toUpperCase(),
    ),
  ),
  stops(
    'names in upper case',
    'changed_field surname',
    mapText(NAMES, (cell) => cell.toUpperCase()),
  ),
  stops(
    'phones in scientific notation',
    ['errors', 'rows spreadsheet_number'],
    mapCells('phone', () => '4.41134E+11'),
  ),
  stops(
    'AboutMe texts cut after twelve characters',
    'changed_field about_me',
    mapCells('about_me', (cell) => cell.slice(0, 12)),
  ),
  stops(
    'managers given by name',
    ['errors', 'rows unknown_reference'],
    edit('manager', () => 'Turner, Karen'),
  ),
  stops(
    'each person as their own manager',
    ['errors', 'rows self_reference'],
    patch(({ external_id }) => ({ manager: external_id })),
  ),
];
