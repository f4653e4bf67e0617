import { pick, mapCells, patch, drop, hire, changePhones, toWindows1252 } from './changes.js';
import { passes } from './night.js';
import { FIELDS, type Field, type Person, getNext, toCsv } from './people.js';

/** Files with the same people in another format, and files with some of the people. */

const keep = (all: readonly Person[]): readonly Person[] => all;
const write =
  (...fields: Field[]) =>
  (all: readonly Person[]) =>
    toCsv(all, { fields });
const omit =
  (...fields: Field[]) =>
  (all: readonly Person[]) =>
    toCsv(all, { fields: FIELDS.filter((field) => !fields.includes(field)) });
const ONE = () => 1;
const CHANGED = pick(2, 3, 10, 80);
const reverse = (all: readonly Person[]) => [...all].reverse();

export const NIGHTS_OF_FILES = [
  // The same people in another format.
  passes('rows in another order', {}, reverse),
  passes('columns in another order', {}, keep, { form: write(...[...FIELDS].reverse()) }),
  passes('a missing phone column', {}, keep, { form: omit('phone') }),
  passes('only the ExternalId column', {}, keep, { form: write('external_id') }),
  passes('a few changed phones in a file without names', { updated: CHANGED }, changePhones(CHANGED), {
    form: write('external_id', 'phone'),
  }),
  passes('an unknown column, with ignore_unknown_columns=true', {}, keep, {
    form: (all) => toCsv(all, { header: (name) => (name === 'Linkedin' ? 'CostCentre' : name) }),
    options: 'missing=block&ignore_unknown_columns=true',
  }),
  passes('alternative column names', {}, keep, {
    form: (all) =>
      toCsv(all, {
        header: (name) =>
          ({
            ExternalId: 'GUID',
            ForeName: 'First name',
            Surname: 'last-name',
            Authname: 'saml',
            Roles: 'Role',
          })[name] ?? name,
      }),
  }),
  passes('semicolons as delimiters', {}, keep, { form: (all) => toCsv(all, { delimiter: ';' }) }),
  passes('quotes around every cell', {}, keep, { form: (all) => toCsv(all, { quoteAll: true }) }),
  passes('UTF-16 with a byte order mark', {}, keep, {
    form: (all) => Buffer.from(`\uFEFF${toCsv(all)}`, 'utf16le'),
  }),
  passes('Windows-1252 with the encoding option', {}, keep, {
    form: (all) => toWindows1252(toCsv(all)),
    options: 'missing=block&encoding=windows-1252',
  }),
  passes('accents as combining characters', {}, keep, { form: (all) => toCsv(all).normalize('NFD') }),
  passes('spaces around all cells', {}, keep, {
    form: (all) =>
      toCsv(patch((person) => Object.fromEntries(FIELDS.map((field) => [field, ` ${person[field]} `])))(all)),
  }),
  passes('an apostrophe in front of each phone', {}, keep, {
    form: (all) => toCsv(mapCells('phone', (cell) => `'${cell}`)(all)),
  }),
  passes('roles in lower case', {}, keep, {
    form: (all) => toCsv(mapCells('roles', (cell) => cell.toLowerCase())(all)),
  }),
  passes('TRUE and FALSE in place of yes and no in the HideEmail column', {}, keep, {
    form: (all) => toCsv(mapCells('hide_email', (cell) => (cell === 'yes' ? 'TRUE' : 'FALSE'))(all)),
  }),
  passes('every row repeated', { skipped: (size) => size }, (all) => [...all, ...all]),
  passes('blank statuses, roles, usernames and e-mails', {}, keep, {
    form: (all) => toCsv(patch(() => ({ status: '', roles: '', username: '', email: '' }))(all)),
  }),
  passes('blank cells, with blank_cells=keep', {}, keep, {
    form: (all) => toCsv(patch(() => ({ phone: '', surname: '', manager: '', authname: '' }))(all)),
    options: 'missing=block&blank_cells=keep',
  }),
  passes(
    'as many rows as the option expected_rows',
    { created: 1 },
    hire(() => 1),
    { options: 'missing=block&expected_rows=51', sizes: [50] },
  ),

  // Some of the people, and other modes.
  passes('only one new person, with missing=keep', { created: 1 }, (all) => getNext(all, 1), {
    options: 'missing=keep',
  }),
  passes(
    'only half of the people, with missing=keep',
    {},
    drop((size) => Math.ceil(size / 2)),
    { options: 'missing=keep' },
  ),
  passes(
    'one missing person, with missing=report',
    {},
    drop(() => 1),
    { options: 'missing=report' },
  ),
  passes('one new person, with mode=create_only', { created: 1, skipped: (size) => size }, hire(ONE), {
    options: 'missing=block&mode=create_only',
  }),
  passes(
    'changed phones and one new person, with mode=update_only',
    { updated: CHANGED, skipped: 1 },
    (all) => [...changePhones(CHANGED)(all), ...getNext(all, 1)],
    { options: 'missing=block&mode=update_only' },
  ),
];
