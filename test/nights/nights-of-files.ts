import { bySize, cellsOf, each, gone, hired, last, windows1252 } from './changes.js';
import { passes } from './night.js';
import { FIELDS, type Field, type Person, newcomers, sheet } from './people.js';

/** The same people in another form, or a part of them. */

const same = (all: readonly Person[]): readonly Person[] => all;
const only =
  (...fields: Field[]) =>
  (all: readonly Person[]) =>
    sheet(all, { fields });
const without =
  (...fields: Field[]) =>
  (all: readonly Person[]) =>
    sheet(all, { fields: FIELDS.filter((field) => !fields.includes(field)) });
const ONE = () => 1;
const CHANGED = bySize(2, 3, 10, 80);
const reversed = (all: readonly Person[]) => [...all].reverse();

export const NIGHTS_OF_FILES = [
  // The same people in another form.
  passes('the rows in another order', {}, reversed),
  passes('the columns in another order', {}, same, { form: only(...[...FIELDS].reverse()) }),
  passes('a column less', {}, same, { form: without('phone') }),
  passes('the keys alone', {}, same, { form: only('external_id') }),
  passes(
    'a file without names, with a few other phones',
    { updated: CHANGED },
    last(CHANGED, ({ phone }) => ({ phone: `${phone} x2` })),
    { form: only('external_id', 'phone') },
  ),
  passes('a column that nobody knows, to be ignored', {}, same, {
    form: (all) => sheet(all, { header: (name) => (name === 'Linkedin' ? 'CostCentre' : name) }),
    options: 'missing=block&ignore_unknown_columns=true',
  }),
  passes('headers with blanks and their other names', {}, same, {
    form: (all) =>
      sheet(all, {
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
  passes('semicolons', {}, same, { form: (all) => sheet(all, { delimiter: ';' }) }),
  passes('quotes around every cell', {}, same, { form: (all) => sheet(all, { quoteAll: true }) }),
  passes('UTF-16', {}, same, { form: (all) => Buffer.from(`\uFEFF${sheet(all)}`, 'utf16le') }),
  passes('Windows-1252 that says so', {}, same, {
    form: (all) => windows1252(sheet(all)),
    options: 'missing=block&encoding=windows-1252',
  }),
  passes('accents as letters of their own', {}, same, { form: (all) => sheet(all).normalize('NFD') }),
  passes('blanks around the cells', {}, same, {
    form: (all) =>
      sheet(each((person) => Object.fromEntries(FIELDS.map((field) => [field, ` ${person[field]} `])))(all)),
  }),
  passes('an apostrophe before the phones', {}, same, {
    form: (all) => sheet(cellsOf('phone', (cell) => `'${cell}`)(all)),
  }),
  passes('roles in small letters', {}, same, {
    form: (all) => sheet(cellsOf('roles', (cell) => cell.toLowerCase())(all)),
  }),
  passes('TRUE and FALSE for yes and no', {}, same, {
    form: (all) => sheet(cellsOf('hide_email', (cell) => (cell === 'yes' ? 'TRUE' : 'FALSE'))(all)),
  }),
  passes('a join that repeats every row', { skipped: (size) => size }, (all) => [...all, ...all]),
  passes('blank statuses, roles, usernames and e-mails', {}, same, {
    form: (all) => sheet(each(() => ({ status: '', roles: '', username: '', email: '' }))(all)),
  }),
  passes('blank cells that are to be kept', {}, same, {
    form: (all) => sheet(each(() => ({ phone: '', surname: '', manager: '', authname: '' }))(all)),
    options: 'missing=block&blank_cells=keep',
  }),
  passes(
    'the number of rows that the source says',
    { created: 1 },
    hired(() => 1),
    {
      options: 'missing=block&expected_rows=51',
      sizes: [50],
    },
  ),

  // Parts of the people, and other modes.
  passes(
    'one hired person alone in a file that may lack people',
    { created: 1 },
    (all) => newcomers(all, 1),
    { options: 'missing=keep' },
  ),
  passes(
    'two people with other phones alone in such a file',
    { updated: 2 },
    (all) => all.slice(0, 2).map((person) => ({ ...person, phone: `${person.phone} x3` })),
    { options: 'missing=keep' },
  ),
  passes(
    'half of the people in such a file',
    {},
    gone((size) => Math.ceil(size / 2)),
    { options: 'missing=keep' },
  ),
  passes(
    'a leaver who is only reported',
    {},
    gone(() => 1),
    { options: 'missing=report' },
  ),
  passes('only new people are wanted', { created: 1, skipped: (size) => size }, hired(ONE), {
    options: 'missing=block&mode=create_only',
  }),
  passes(
    'no new people are wanted',
    { updated: CHANGED, skipped: 1 },
    (all) => [...last(CHANGED, ({ phone }) => ({ phone: `${phone} x4` }))(all), ...newcomers(all, 1)],
    { options: 'missing=block&mode=update_only' },
  ),
];
