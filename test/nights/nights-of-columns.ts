import { type Change, bySize, cellsOf, constant, each, last, where } from './changes.js';
import { passes } from './night.js';
import { type Field, ascii, people } from './people.js';

/** Columns that come, fill and are tidied up: nobody's value is replaced, or that of a few. */

const all = (size: number): number => size;
/** As many of whom a username, e-mail or login name may change. */
const NAMED = bySize(2, 2, 5, 40);
/** As many whose other cells may change. */
const CHANGED = bySize(2, 3, 10, 80);
const without = (...fields: Field[]): Change =>
  each(() => Object.fromEntries(fields.map((field) => [field, ''])));
const few = (field: Field, count: (size: number) => number, change: (cell: string) => string): Change =>
  last(count, (person) => ({ [field]: change(person[field]) }));
/** The first so many surnames with an accent are written without it. */
const foldedSurnames =
  (count: (size: number) => number): Change =>
  (now) => {
    const some = now.filter(({ surname }) => ascii(surname) !== surname).slice(0, count(now.length));
    return where(
      (_, person) => some.includes(person),
      ({ surname }) => ({ surname: ascii(surname) }),
    )(now);
  };
const noPhones = without('phone');
const noMobiles = without('mobile');
const noMiddle = without('middle_name');
const noNick = without('known_as');
const noLogins = without('authname');
const noManagers = without('manager');
const noTexts = without('about_me');
const noHidden = without('hide_email');
const noNames = without('firstname', 'surname', 'middle_name', 'known_as');
const somePhones = where(
  (i) => i % 5 < 2,
  () => ({ phone: '' }),
);
const capitals = few('surname', CHANGED, (cell) => cell.toUpperCase());
const lower = few('firstname', CHANGED, (cell) => cell.toLowerCase());
const title = (cell: string): string => cell.slice(0, 1).toUpperCase() + cell.slice(1).toLowerCase();
const folded = foldedSurnames(bySize(1, 2, 8, 40));
const SOME_ACCENTS = bySize(1, 2, 8, 40);

export const NIGHTS_OF_COLUMNS = [
  // The first values of a column.
  passes(
    'the first phones',
    { updated: all },
    each((_, i) => ({ phone: `+44 20 7946 ${1000 + i}` })),
    { base: noPhones },
  ),
  passes(
    'the first mobiles',
    { updated: all },
    each((_, i) => ({ mobile: `+44 7700 ${900_000 + i}` })),
    { base: noMobiles },
  ),
  passes('the first middle names', { updated: all }, constant('middle_name', 'Lee'), { base: noMiddle }),
  passes(
    'the first nicknames',
    { updated: all },
    each(({ firstname }) => ({ known_as: firstname.slice(0, 3) })),
    { base: noNick },
  ),
  passes(
    'the first login names',
    { updated: all },
    each(({ username }) => ({ authname: `${username}.saml` })),
    { base: noLogins },
  ),
  passes(
    'the first managers',
    { updated: (size) => size - 1 },
    each((_, i, now) => ({ manager: i === 0 ? '' : now[0]!.external_id })),
    { base: noManagers },
  ),
  passes('the first texts about people, one for all', { updated: all }, constant('about_me', 'Welcome'), {
    base: noTexts,
  }),
  passes(
    'the first names',
    { updated: all },
    each((_, i) => ({ firstname: `Ann ${i}`, surname: 'Lee' })),
    { base: noNames },
  ),
  passes(
    'the first profiles elsewhere',
    { updated: all },
    each((_, i) => ({ linkedin: `https://l.example/in/p${i}` })),
  ),
  passes('one page for all profiles', { updated: all }, constant('linkedin', 'https://l.example/company')),
  passes('all addresses are hidden for the first time', { updated: all }, constant('hide_email', 'yes'), {
    base: noHidden,
    sizes: [8, 19, 50],
  }),

  // Blank cells are filled.
  passes(
    'phones for the two in five who had none',
    { updated: (size) => Math.floor(size / 5) * 2 + Math.min(2, size % 5) },
    cellsOf('phone', (cell, i) => cell || `+44 20 7946 ${1000 + i}`),
    { base: somePhones },
  ),
  passes(
    'the switchboard for the two in five who had no phone',
    { updated: (size) => Math.floor(size / 5) * 2 + Math.min(2, size % 5) },
    cellsOf('phone', (cell) => cell || '+44 113 496 0000'),
    { base: somePhones },
  ),
  passes(
    'nicknames for those who had none',
    { updated: (size) => Math.floor(size / 2) },
    each(({ known_as, firstname }) => ({ known_as: known_as || `${firstname}y` })),
  ),
  passes(
    'middle names for those who had none',
    { updated: bySize(5, 13, 33, 267) },
    each(({ middle_name, firstname }) => ({ middle_name: middle_name || `${firstname}a` })),
  ),
  passes(
    'a new phone for one person',
    { updated: 1 },
    few(
      'phone',
      () => 1,
      () => '+44 113 496 0777',
    ),
  ),
  passes(
    'a nickname for one person',
    { updated: 1 },
    few(
      'known_as',
      () => 1,
      () => 'Mo',
    ),
  ),
  passes(
    'a login name more for some',
    { updated: NAMED },
    few('authname', NAMED, (cell) => `${cell}|${cell}.2`),
  ),
  passes(
    'some hide their addresses',
    { updated: (size) => Math.ceil(size / 2) },
    constant('hide_email', 'yes'),
  ),
  passes(
    'some show their addresses, as many as may',
    { updated: bySize(2, 2, 5, 40) },
    last(bySize(4, 4, 10, 80), () => ({ hide_email: 'no' })),
  ),

  // A few cells are corrected.
  passes('surnames in capitals, corrected', { updated: CHANGED }, few('surname', CHANGED, title), {
    base: capitals,
  }),
  passes('forenames in small letters, corrected', { updated: CHANGED }, few('firstname', CHANGED, title), {
    base: lower,
  }),
  passes(
    'accents that were missing, restored',
    { updated: SOME_ACCENTS },
    (now, dataset) => people(dataset, now.length),
    { base: folded },
  ),
  passes(
    'double surnames',
    { updated: CHANGED },
    few('surname', CHANGED, (cell) => `${cell}-Hall`),
  ),
  passes(
    'titles before forenames',
    { updated: CHANGED },
    few('firstname', CHANGED, (cell) => `Dr ${cell}`),
  ),
  passes(
    'one typing error in a forename',
    { updated: 1 },
    few(
      'firstname',
      () => 1,
      (cell) => `${cell}e`,
    ),
  ),
  passes(
    'blanks in phones',
    { updated: CHANGED },
    few('phone', CHANGED, (cell) => cell.replaceAll(' ', '')),
  ),
  passes(
    'usernames corrected, as many as may',
    { updated: NAMED },
    few('username', NAMED, (cell) => cell.replace('.', '-')),
  ),
  passes(
    'e-mails in capitals, corrected',
    { updated: NAMED },
    few('email', NAMED, (cell) => cell.toLowerCase()),
    { base: few('email', NAMED, (cell) => cell.toUpperCase()) },
  ),
  passes(
    'a long text about one person',
    { updated: 1 },
    few(
      'about_me',
      () => 1,
      () => 'word '.repeat(1500).trim(),
    ),
  ),
  passes(
    'a text of several lines about one person',
    { updated: 1 },
    few(
      'about_me',
      () => 1,
      () => 'one, "two"\nthree',
    ),
  ),
  passes(
    'texts about people of whom some move',
    { updated: CHANGED },
    few('about_me', CHANGED, (cell) => `${cell}, Leeds`),
  ),
  passes(
    'two mobiles, two phones and two surnames',
    { updated: bySize(2, 2, 2, 2) },
    last(
      () => 2,
      ({ surname }) => ({ phone: '+44 113 496 0771', mobile: '+44 7700 900771', surname: `${surname}s` }),
    ),
  ),
];
