import { type Change, pick, mapCells, fillAll, patch, patchLast, patchIf } from './changes.js';
import { passes } from './night.js';
import { type Field, toAscii, people } from './people.js';

/** New, filled and corrected columns, which replace few existing values. */

const ONE = () => 1;
const getSize = (size: number): number => size;
/** Largest number of people whose other cells may change. */
const CHANGED = pick(2, 3, 10, 80);
const clearFields = (...fields: Field[]): Change =>
  patch(() => Object.fromEntries(fields.map((field) => [field, ''])));
const edit = (field: Field, count: (size: number) => number, change: (cell: string) => string): Change =>
  patchLast(count, (person) => ({ [field]: change(person[field]) }));
/** Removes the accents from the first `count` surnames that have one. */
const foldSurnames =
  (count: (size: number) => number): Change =>
  (now) => {
    const some = now.filter(({ surname }) => toAscii(surname) !== surname).slice(0, count(now.length));
    return patchIf(
      (_, person) => some.includes(person),
      ({ surname }) => ({ surname: toAscii(surname) }),
    )(now);
  };
const clearPhones = clearFields('phone');
const clearLogins = clearFields('authname');
const clearManagers = clearFields('manager');
const clearTexts = clearFields('about_me');
const clearSomePhones = patchIf(
  (i) => i % 5 < 2,
  () => ({ phone: '' }),
);
const raiseSurnames = edit('surname', CHANGED, (cell) => cell.toUpperCase());
const capitalize = (cell: string): string => cell.slice(0, 1).toUpperCase() + cell.slice(1).toLowerCase();
const foldFew = foldSurnames(pick(1, 2, 8, 40));
const SOME_ACCENTS = pick(1, 2, 8, 40);

export const NIGHTS_OF_COLUMNS = [
  // The first values of a column.
  passes(
    'phones added for all people',
    { updated: getSize },
    patch((_, i) => ({ phone: `+44 20 7946 ${1000 + i}` })),
    { base: clearPhones },
  ),
  passes(
    'logins added for all people',
    { updated: getSize },
    patch(({ username }) => ({ authname: `${username}.saml` })),
    { base: clearLogins },
  ),
  passes(
    'managers added for all people',
    { updated: (size) => size - 1 },
    patch((_, i, now) => ({ manager: i === 0 ? '' : now[0]!.external_id })),
    { base: clearManagers },
  ),
  passes('the same AboutMe text added for all people', { updated: getSize }, fillAll('about_me', 'Welcome'), {
    base: clearTexts,
  }),
  passes(
    'the same LinkedIn address added for all people',
    { updated: getSize },
    fillAll('linkedin', 'https://l.example/company'),
  ),

  // Blank cells are filled.
  passes(
    'the same phone added for people without one',
    { updated: (size) => Math.floor(size / 5) * 2 + Math.min(2, size % 5) },
    mapCells('phone', (cell) => cell || '+44 113 496 0000'),
    { base: clearSomePhones },
  ),
  passes(
    'nicknames added for people without one',
    { updated: (size) => Math.floor(size / 2) },
    patch(({ known_as, firstname }) => ({ known_as: known_as || `${firstname}y` })),
  ),
  passes(
    'an additional login for some people',
    { updated: pick(2, 2, 5, 8) },
    edit('authname', pick(2, 2, 5, 8), (cell) => `${cell}|${cell}.2`),
  ),
  passes(
    'HideEmail set to no, up to the limit',
    { updated: pick(2, 2, 5, 40) },
    patchLast(pick(4, 4, 10, 80), () => ({ hide_email: 'no' })),
  ),

  // A few cells are corrected.
  passes(
    'some surnames corrected from upper case',
    { updated: CHANGED },
    edit('surname', CHANGED, capitalize),
    { base: raiseSurnames },
  ),
  passes(
    'missing accents restored in some surnames',
    { updated: SOME_ACCENTS },
    (now, dataset) => people(dataset, now.length),
    { base: foldFew },
  ),
  passes(
    'all e-mails in upper case',
    { updated: getSize },
    mapCells('email', (cell) => cell.toUpperCase()),
  ),
  passes(
    'a long AboutMe text of one person',
    { updated: 1 },
    edit('about_me', ONE, () => 'word '.repeat(1500).trim()),
  ),
];
