import { describe, expect, test } from '@jest/globals';
import { COLUMNS, findNearestColumn } from '../../src/import/file/columns.js';
import { mapHeader } from '../../src/import/file/run-files.js';

const KNOWN = { ignore_unknown_columns: false, today: '2026-11-27' };
const ANY = { ...KNOWN, ignore_unknown_columns: true };

const readHeader = (names: string[], options: typeof KNOWN) => mapHeader(names, options, null).columns;
const fieldsOf = (names: string[], options = KNOWN) =>
  readHeader(names, options).map((column) => column && [column.name, column.field]);

/** Returns the code and the message of every error of a header. */
const faultsOf = (names: string[], options = KNOWN) =>
  mapHeader(names, options, null).errors.map(({ code, message }) => [code, message] as const);

test('the header of an import accepts all columns in any order', () => {
  const names = COLUMNS.map(({ name }) => name);
  const people = 'ExternalId Username Email ForeName Surname MiddleName KnownAs Phone Mobile Status Roles';
  const others = 'Authname Manager HideEmail HidePhone Linkedin Facebook Twitter ImageUrl AboutMe';
  expect(names.join(' ')).toBe(`${people} ${others}`);
  expect(readHeader(names, KNOWN)).toEqual(COLUMNS);
  const reversed = names.toReversed();
  expect(readHeader(reversed, KNOWN).map((column) => column?.name)).toEqual(reversed);
});

describe('the column name', () => {
  test.each(COLUMNS.map(({ name }) => name))('%s is accepted with other case and separators', (name) => {
    const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
    const spellings = [
      ...[name.toLowerCase(), name.toUpperCase(), ` ${words} `, `${name}_`],
      ...['_', '-', '\u00a0'].map((separator) => words.toLowerCase().replaceAll(' ', separator)),
      name.replace(/[A-Za-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)), // full-width letters
    ];
    for (const spelling of spellings) {
      const names = name === 'ExternalId' ? [spelling] : ['ExternalId', spelling];
      expect(readHeader(names, KNOWN).at(-1)?.name).toBe(name);
    }
  });

  test.each([
    ['external_id', 'ExternalId'],
    ['GUID', 'ExternalId'],
    ['guid', 'ExternalId'],
    ['FirstName', 'ForeName'],
    ['first name', 'ForeName'],
    ['LastName', 'Surname'],
    ['LAST-NAME', 'Surname'],
    ['Role', 'Roles'],
    ['saml', 'Authname'],
    ['SAML', 'Authname'],
  ])('%s is an alias of %s', (alias, name) => {
    const names = name === 'ExternalId' ? [alias] : ['ExternalId', alias];
    expect(readHeader(names, KNOWN).at(-1)?.name).toBe(name);
  });
});

test('import columns with a leading _ are ignored', () => {
  const names = ['_line', '_line', ' _Email', '_password', '_'];
  const ignored = names.map(() => undefined);
  expect(fieldsOf([...names, 'ExternalId'])).toEqual([...ignored, ['ExternalId', 'external_id']]);
});

test('ignore_unknown_columns ignores blank and repeated unknown columns', () => {
  const id = ['ExternalId', 'external_id'];
  expect(fieldsOf(['Shoe', 'ExternalId', 'Shoe', ''], ANY)).toEqual([undefined, id, undefined, undefined]);
});

const fault = (code: string, message: string) => [code, message];
const MISSING = fault(
  'missing_column',
  'The header has no column ExternalId, which matches rows to users. Add this column, or use a profile that maps a column to it. In the drop folder, the pattern of the profile must match the file name.',
);
const unknownColumn = (name: string) =>
  fault(
    'unknown_column',
    `The column "${name}" is unknown. Correct its name, map it in a profile, or ignore unknown columns (option ignore_unknown_columns).`,
  );
const both = (one: string, other: string, name: string) =>
  fault('duplicate_column', `The columns "${one}" and "${other}" both mean ${name}. Remove one of them.`);

test.each([
  [['Username'], KNOWN, MISSING],
  [['_ExternalId'], ANY, MISSING],
  [['ExternalId', 'Shoe size'], KNOWN, unknownColumn('Shoe size')],
  [['ExternalId', ''], KNOWN, unknownColumn('')],
  [['ExternalId', 'x'.repeat(300)], KNOWN, unknownColumn('x'.repeat(100))],
  [['ExternalId', 'Email', 'E-MAIL'], KNOWN, both('Email', 'E-MAIL', 'Email')],
  [['GUID', 'Email', 'ExternalId'], ANY, both('GUID', 'ExternalId', 'ExternalId')],
  [['ExternalId', 'FirstName', 'Surname', 'ForeName'], KNOWN, both('FirstName', 'ForeName', 'ForeName')],
  [['ExternalId', 'LastName', 'last_name'], ANY, both('LastName', 'last_name', 'Surname')],
])('the import header %j is refused with the options %j', (names, options, expected) => {
  expect(faultsOf(names, options)[0]).toEqual(expected);
});

test.each(['PASSWORD', 'pass word', 'Pass_Word', 'passwd', 'PWD', 'password-hash', 'ｐａｓｓｗｏｒｄ'])(
  'the password column %s is refused with ignore_unknown_columns',
  (name) => {
    const message = `Imports cannot set passwords. Remove the column "${name}" from the file.`;
    expect(faultsOf(['ExternalId', name], ANY)).toEqual([fault('password_column', message)]);
  },
);

test('all errors of a header are reported together', () => {
  const names = ['Extrenal Id', 'Emial', 'E-Mail', 'email', 'Shoe size', 'pwd', 'role', 'roles', '_line'];
  const faults = faultsOf([...names, 'Manger']);
  const end = ' is unknown';
  expect(faults.map(([code, message]) => [code, message.split('.')[0]])).toEqual([
    ['missing_column', 'The header has no column ExternalId, which matches rows to users'],
    ['unknown_column', `The column "Extrenal Id"${end}`],
    ['unknown_column', `The column "Emial"${end}`],
    ['duplicate_column', 'The columns "E-Mail" and "email" both mean Email'],
    ['unknown_column', `The column "Shoe size"${end}`],
    ['password_column', 'Imports cannot set passwords'],
    ['duplicate_column', 'The columns "role" and "roles" both mean Roles'],
    ['unknown_column', `The column "Manger"${end}`],
  ]);
  const meant = faults.map(([, message]) => /Did you mean (\w+)\?/.exec(message)?.[1]);
  expect(meant.filter(Boolean)).toEqual(['ExternalId', 'Email', 'Manager']);
});

test.each([
  ['Mail', 'Email'],
  ['Surnmae', 'Surname'],
  ['usrname', 'Username'],
  ['Phone1', 'Phone'],
  ['first nmae', 'ForeName'],
  ['GUIDs', 'ExternalId'],
  ['Fax', 'none'],
  ['ID', 'none'],
  ['', 'none'],
  ['Department', 'none'],
  ['x'.repeat(10_000), 'none'],
])('the column suggested for the unknown name %j is %s', (name, nearest) => {
  expect(findNearestColumn(name)?.name ?? 'none').toBe(nearest);
});
