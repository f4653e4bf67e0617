import { describe, expect, test } from '@jest/globals';
import { COLUMNS } from '../../src/import/file/columns.js';
import { FileError } from '../../src/import/file/file-error.js';
import { nearestColumn } from '../../src/import/file/nearest-column.js';
import { readHeader } from '../../src/import/file/run-files.js';

const KNOWN = { ignore_unknown_columns: false };
const ANY = { ignore_unknown_columns: true };

const fieldsOf = (names: string[], options = KNOWN) =>
  readHeader(names, options).map((column) => column && [column.name, column.field]);

function refusalOf(names: string[], options = KNOWN): [string, number | undefined, string] {
  try {
    readHeader(names, options);
  } catch (error) {
    if (error instanceof FileError) return [error.code, error.line, error.message];
    throw error;
  }
  throw new Error('not refused');
}

test('the columns, in their order', () => {
  const names = COLUMNS.map(({ name }) => name);
  expect(names).toEqual(
    (
      'ExternalId Username Email ForeName Surname MiddleName KnownAs Phone Mobile Status Roles Authname Manager ' +
      'HideEmail HidePhone Linkedin Facebook Twitter ImageUrl AboutMe'
    ).split(' '),
  );
  expect(readHeader(names, KNOWN)).toEqual(COLUMNS);
  const reversed = names.toReversed();
  expect(readHeader(reversed, KNOWN).map((column) => column?.name)).toEqual(reversed);
});

describe('spellings', () => {
  test.each(COLUMNS.map(({ name }) => name))('%s in any case, with spaces, _ and -', (name) => {
    const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
    const spellings = [
      name.toLowerCase(),
      name.toUpperCase(),
      ` ${words} `,
      words.replaceAll(' ', '_'),
      words.toLowerCase().replaceAll(' ', '-'),
      `${name}_`,
      words.replaceAll(' ', '\u00a0'),
      name.replace(/[A-Za-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)), // full width
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
  ])('the alias %s means %s', (alias, name) => {
    const names = name === 'ExternalId' ? [alias] : ['ExternalId', alias];
    expect(readHeader(names, KNOWN).at(-1)?.name).toBe(name);
  });
});

test('columns that begin with _ are ignored, even if repeated or with a known name', () => {
  expect(fieldsOf(['_line', 'ExternalId', '_line', ' _Email', '_password', '_'])).toEqual([
    undefined,
    ['ExternalId', 'external_id'],
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('unknown columns are ignored on demand, repeated or blank too', () => {
  expect(fieldsOf(['Shoe', 'ExternalId', 'Shoe', ''], ANY)).toEqual([
    undefined,
    ['ExternalId', 'external_id'],
    undefined,
    undefined,
  ]);
});

const PASSWORDS = [
  'Password',
  'PASSWORD',
  'pass word',
  'Pass_Word',
  'passwd',
  'PWD',
  'password-hash',
  'ｐａｓｓｗｏｒｄ',
];

test.each<[string[], typeof KNOWN, string, string]>([
  [
    ['Username'],
    KNOWN,
    'missing_column',
    'The header has no column ExternalId, by which rows are matched to users.',
  ],
  [
    ['_ExternalId'],
    ANY,
    'missing_column',
    'The header has no column ExternalId, by which rows are matched to users.',
  ],
  [
    ['ExternalId', 'Shoe size'],
    KNOWN,
    'unknown_column',
    'The column "Shoe size" is not known; correct its name, or import with ignore_unknown_columns=true.',
  ],
  [
    ['ExternalId', ''],
    KNOWN,
    'unknown_column',
    'The column "" is not known; correct its name, or import with ignore_unknown_columns=true.',
  ],
  [
    ['ExternalId', 'x'.repeat(300)],
    KNOWN,
    'unknown_column',
    `The column "${'x'.repeat(100)}" is not known; correct its name, or import with ignore_unknown_columns=true.`,
  ],
  [
    ['ExternalId', 'Email', 'E-MAIL'],
    KNOWN,
    'duplicate_column',
    'The columns "Email" and "E-MAIL" both mean Email; remove one of them.',
  ],
  [
    ['GUID', 'Email', 'ExternalId'],
    ANY,
    'duplicate_column',
    'The columns "GUID" and "ExternalId" both mean ExternalId; remove one of them.',
  ],
  [
    ['ExternalId', 'FirstName', 'Surname', 'ForeName'],
    KNOWN,
    'duplicate_column',
    'The columns "FirstName" and "ForeName" both mean ForeName; remove one of them.',
  ],
  [
    ['ExternalId', 'LastName', 'last_name'],
    ANY,
    'duplicate_column',
    'The columns "LastName" and "last_name" both mean Surname; remove one of them.',
  ],
  ...PASSWORDS.map((name): [string[], typeof KNOWN, string, string] => [
    ['ExternalId', name],
    ANY,
    'password_column',
    `Imports set no passwords; remove the column "${name}" from the file.`,
  ]),
])('%j with %j is refused: %s', (names, options, code, message) => {
  expect(refusalOf(names, options)).toEqual([code, 1, message]);
});

test('all that is wrong with a header is named at once, with the column that was probably meant', () => {
  const names = [
    'Extrenal Id',
    'Emial',
    'E-Mail',
    'email',
    'Shoe size',
    'pwd',
    'role',
    'roles',
    '_line',
    'Manger',
  ];
  try {
    readHeader(names, KNOWN, 3);
    throw new Error('not refused');
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const faults = [error, ...error.others].map(({ code, line, message }) => [
      code,
      line,
      message.split(';')[0],
    ]);
    const end = ' is not known';
    expect(faults).toEqual([
      ['missing_column', 3, 'The header has no column ExternalId, by which rows are matched to users.'],
      ['unknown_column', 3, `The column "Extrenal Id"${end}`],
      ['unknown_column', 3, `The column "Emial"${end}`],
      ['duplicate_column', 3, 'The columns "E-Mail" and "email" both mean Email'],
      ['unknown_column', 3, `The column "Shoe size"${end}`],
      ['password_column', 3, 'Imports set no passwords'],
      ['duplicate_column', 3, 'The columns "role" and "roles" both mean Roles'],
      ['unknown_column', 3, `The column "Manger"${end}`],
    ]);
    const meant = error.others.map(({ message }) => /did you mean (\w+)\?/.exec(message)?.[1]);
    expect(meant).toEqual(['ExternalId', 'Email', undefined, undefined, undefined, undefined, 'Manager']);
  }
});

test.each([
  ['Mail', 'Email'],
  ['Surnmae', 'Surname'],
  ['usrname', 'Username'],
  ['Phone1', 'Phone'],
  ['first nmae', 'ForeName'],
  ['GUIDs', 'ExternalId'],
  ['Fax', undefined],
  ['ID', undefined],
  ['', undefined],
  ['Department', undefined],
  ['x'.repeat(10_000), undefined],
])('the column nearest to %j', (name, nearest) => {
  expect(nearestColumn(name)?.name).toBe(nearest);
});

test('too many columns are one fault among others', () => {
  const names = ['Password', ...Array.from({ length: 200 }, () => 'x')];
  try {
    readHeader(names, ANY);
    throw new Error('not refused');
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const codes = [error, ...error.others].map(({ code }) => code);
    expect(codes).toEqual(['too_many_columns', 'missing_column', 'password_column']);
  }
});
