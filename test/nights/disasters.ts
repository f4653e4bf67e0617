import {
  blockSome,
  changePhones,
  copy,
  drop,
  fillAll,
  mapCells,
  marry,
  patch,
  shiftUp,
  sortColumn,
} from './changes.js';
import { type Person, personOf, toAscii, toCsv } from './people.js';
import { type Case, NIGHTLY, type Source, createCase } from './stage.js';

/** A damaged nightly file, which must not change a user. */
interface Disaster extends Case {
  /** A guard that stops the run (with its field), or `failed` with the code of the file's problem. */
  stop: string;
}

const stops = (name: string, stop: string, file: Source, more: Partial<Case> = {}): Disaster => ({
  ...createCase(name, file, more),
  stop,
});

const dropAccents = patch(({ firstname, surname }) => ({
  firstname: toAscii(firstname),
  surname: toAscii(surname),
}));
/** Decodes the UTF-8 bytes of a text as Windows-1252. */
const encodeTwice = (text: string): string =>
  new TextDecoder('windows-1252').decode(new TextEncoder().encode(text));
/** Moves all cells except the first one column to the left. */
const shiftLeft = (all: readonly Person[]): string => {
  const [header, ...rows] = toCsv(mapCells('about_me', (cell) => cell.replace(',', ''))(all)).split('\r\n');
  return [header, ...rows.map((row) => row.replace(/^([^,]*),[^,]*(.*)$/, '$1$2,'))].join('\r\n');
};

/**
 * Accidents that need the whole service: at least one for each guard, and damage that the reader of the file finds.
 * More accidents of each guard are in test/unit/guard-accidents.spec.ts.
 */
export const DISASTERS: readonly Disaster[] = [
  // Valid cells in the rows of other people, and columns with one value.
  stops('phones sorted without other columns', 'changed_field phone', sortColumn('phone')),
  stops('external ids sorted without other columns', 'other_person', sortColumn('external_id')),
  stops('logins shifted one row up', 'slid_column authname', shiftUp('authname')),
  stops('roles shifted one row up', 'role_holders', shiftUp('roles')),
  stops('managers shifted three rows down', 'changed_managers', shiftUp('manager', -3)),
  stops('mobiles copied to phones', 'exchanged_values', copy('mobile', 'phone')),
  stops('external ids copied to usernames', 'changed_logins_only username', copy('external_id', 'username')),
  stops('many new surnames, usernames and e-mails', 'changed_logins username', marry(10)),
  stops(
    'e-mails of another domain',
    'changed_form email',
    mapCells('email', (cell) => cell.replace('@', '@x')),
  ),
  stops('Webmaster role for all people', 'errors', fillAll('roles', 'Webmaster')),
  stops('one username for all people', 'errors', fillAll('username', 'user')),
  stops('all phones emptied', 'emptied_field phone', fillAll('phone', '')),
  stops('all LinkedIn addresses emptied', 'emptied_field social_media.linkedin', fillAll('linkedin', ''), {
    base: patch((_, i) => ({ linkedin: `https://l.example/in/p${i}` })),
  }),

  // People who are missing, blocked, active again or unknown.
  stops('only half of the rows', 'lost_together', drop(25)),
  stops('201 missing people of 2,500', 'deactivations', drop(201), { size: 2500 }),
  stops('all blocked people active again', 'reactivations', fillAll('status', 'Active'), {
    base: blockSome(25),
  }),
  stops(
    'external ids in upper case',
    'errors',
    mapCells('external_id', (key) => key.toUpperCase()),
  ),
  stops(
    'external ids with a prefix, with mode=update_only',
    'deactivations',
    mapCells('external_id', (key) => `EMP${key}`),
    { options: `${NIGHTLY}&mode=update_only` },
  ),
  stops(
    'a file of another company, with missing=keep',
    'created',
    (all, dataset) => all.map((_, i) => ({ ...personOf(`x${dataset}`, i), manager: '' })),
    { options: 'missing=keep' },
  ),

  // Files of earlier nights.
  stops('the first file of the data set, sent again', 'old_file', (all) => all, {
    before: [{ file: marry(5) }, { file: (all) => changePhones(8)(marry(5)(all)) }],
  }),
  stops(
    'a file with lost accents, sent again while its first run waits for approval',
    'garbled_text',
    dropAccents,
    { before: [{ file: dropAccents, then: 'left' }] },
  ),

  // Damaged files.
  stops(
    'an HTML login page',
    'failed missing_column',
    () => '<!doctype html>\n<html><body>Please log in</body></html>\n',
  ),
  stops('a file encoded twice as UTF-8', 'errors', (all) => encodeTwice(toCsv(all))),
  stops('cells shifted one column to the left', 'errors', shiftLeft),
  stops('the headers of two columns swapped', 'exchanged_values', (all) =>
    toCsv(all).replace('ForeName,Surname', 'Surname,ForeName'),
  ),
  stops('a file cut off within a row', 'failed cut_short', (all) => toCsv(all).slice(0, -60)),
  stops('fewer rows than the option expected_rows', 'failed unexpected_rows', (all) => all.slice(1), {
    options: `${NIGHTLY}&expected_rows=50`,
  }),
];
