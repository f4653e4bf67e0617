import { mapCells, patch, encodeTwice, maskAccents, mapText } from './changes.js';
import { stops } from './disaster.js';
import { FIELDS, type Field, toAscii } from './people.js';

/** Cells that were converted, cut off, anonymized or wrongly encoded. */

const NAMES: readonly Field[] = ['firstname', 'surname', 'middle_name', 'known_as'];
const edit = (field: Field, change: (cell: string, i: number) => string) =>
  mapCells(field, (cell, i) => (cell === '' ? '' : change(cell, i)));
/** Gives one surname in five an accent. */
const giveFewAccents = mapCells('surname', (cell, i) => (i % 5 === 3 ? `${toAscii(cell)}é` : toAscii(cell)));
const BROKEN = ['errors', 'rows broken_character'];

export const DISASTERS_OF_TEXT = [
  // Wrongly encoded.
  stops('names with ? in place of accents, one in five with an accent', BROKEN, mapText(NAMES, maskAccents), {
    base: giveFewAccents,
  }),
  stops('UTF-8 names encoded twice, one in five with an accent', BROKEN, mapText(NAMES, encodeTwice), {
    base: giveFewAccents,
  }),
  stops(
    'names with replacement characters in place of accents',
    BROKEN,
    mapText(NAMES, (cell) => cell.replaceAll(/[^\x20-\x7e]/g, '\uFFFD')),
  ),
  stops('names without their accents', 'garbled_text', mapText(NAMES, toAscii), { sizes: [19, 50, 400] }),
  stops(
    'names with HTML escapes, one in five with an accent',
    'garbled_text',
    mapText(NAMES, (cell) => cell.replaceAll('é', '&eacute;')),
    { base: giveFewAccents, sizes: [19, 50, 400] },
  ),

  // Converted, cut off or anonymized.
  stops(
    'logins of another provider',
    'changed_logins authname',
    edit('authname', (cell) => `${cell}.old`),
  ),
  stops(
    'all cells including external ids in upper case',
    ['errors', 'deactivations'],
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
