/** The fields in the order of a file, with the headers of their columns. */
const COLUMNS = {
  external_id: 'ExternalId',
  username: 'Username',
  email: 'Email',
  firstname: 'ForeName',
  surname: 'Surname',
  middle_name: 'MiddleName',
  known_as: 'KnownAs',
  phone: 'Phone',
  mobile: 'Mobile',
  status: 'Status',
  roles: 'Roles',
  authname: 'Authname',
  manager: 'Manager',
  about_me: 'AboutMe',
  hide_email: 'HideEmail',
  linkedin: 'Linkedin',
};
export type Field = keyof typeof COLUMNS;
/** One row of a source, with the field names of the API. `manager` is an external id. */
export type Person = Record<Field, string>;
export const FIELDS = Object.keys(COLUMNS) as Field[];

const splitWords = (text: string): readonly string[] => text.split(' ');
const FORENAMES = splitWords(
  'Karen Bill Ngozi Tariq Wendy Agnes Yusuf Colin Divya Ewan Petra Hamid Moira Sunil Olive Victor Lena Rhys Zara',
);
const SURNAMES = splitWords(
  'Turner Abbott Quinn Mistry Walsh Banerjee Yates Clarke Obi Doyle Shah Evans Novak Fraser Price Grant Lund Hughes Karim Irwin Voss Jarvis Rossi',
);
const ACCENTED = splitWords(
  'Müller Lefèvre Núñez Sørensen Håkansson Köhler Çelik Brontë Galván Gärtner Ramón',
);
const SECOND = splitWords(
  'James Marie Louise Peter Anne Paul Rose Henry Grace Arthur Jane Frederick May Leslie Ruth Noel Edith',
);
const SHORT = splitWords('Kaz Billy Goz Taz Wen Aggie Joe Col Viv Ewie Pet Ham Mo Sunny Liv Vic Lee');
const DEPARTMENTS = splitWords('Sales Finance Legal Research Support Logistics Training');
const ROLES = ['Organisational user', 'Author;Editor', 'Publisher', 'Section manager'];

const pick = (list: readonly string[], n: number): string => list[n % list.length]!;
const padDigits = (n: number, length: number): string => String(n).padStart(length, '0');
/** Returns four digits that are unique to a person and not in ascending order. */
const uniqueDigits = (i: number): string => padDigits((i * 7919 + 1234) % 10_000, 4);
export const toAscii = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ø', 'o');

/** Every third surname has a letter outside ASCII. */
const ACCENT_EVERY = 3;
const TEAM = 5;

/** Returns the i-th person of a source, always with the same values. Identifiers are unique across sources. */
export function personOf(source: string, i: number): Person {
  const firstname = pick(FORENAMES, i * 5 + Math.floor(i / 19));
  const surname = i % ACCENT_EVERY === 0 ? pick(ACCENTED, i / ACCENT_EVERY) : pick(SURNAMES, i * 7);
  const login = `${toAscii(firstname)}.${toAscii(surname)}.${i}`.toLowerCase();
  const day = `20${padDigits(10 + (i % 15), 2)}-${padDigits(1 + (i % 12), 2)}-${padDigits(1 + ((i * 5) % 28), 2)}`;
  return {
    external_id: externalIdOf(source, i),
    username: `${login}.${source}`,
    email: `${login}@${source}.example.org`,
    firstname,
    surname,
    middle_name: i % 3 === 1 ? pick(SECOND, i) : '',
    known_as: i % 2 === 0 ? pick(SHORT, i) : '',
    phone: `+44 113 496 ${uniqueDigits(i)}`,
    mobile: i % 4 === 3 ? '' : `+44 7700 90${uniqueDigits(i + 5000)}`,
    status: 'Active',
    roles: pick(ROLES, i),
    authname: `${toAscii(surname).toLowerCase()}${uniqueDigits(i)}@login.${source}`,
    manager: i === 0 ? '' : externalIdOf(source, Math.floor((i - 1) / TEAM)),
    about_me: `${pick(DEPARTMENTS, i)}, since ${day}`,
    hide_email: i % 2 === 1 ? 'yes' : 'no',
    linkedin: '',
  };
}
const externalIdOf = (source: string, i: number): string => `00${source}-e${1001 + i}`;

/** Returns the first people of a source. */
export const people = (source: string, count: number): Person[] =>
  Array.from({ length: count }, (_, i) => personOf(source, i));

/** Returns the next people of the source of this list. */
export const getNext = (all: readonly Person[], count: number): Person[] => {
  const source = all[0]!.external_id.slice(2, -'-e1001'.length);
  return Array.from({ length: count }, (_, i) => ({
    ...personOf(source, all.length + i),
    manager: all[0]!.external_id,
  }));
};

/** Writes people as a CSV file. */
export function toCsv(all: readonly Person[], fields: readonly Field[] = FIELDS): string {
  const cell = (text: string): string => (text.includes(',') ? `"${text}"` : text);
  const line = (cells: string[]): string => `${cells.map(cell).join()}\r\n`;
  const names = fields.map((field) => COLUMNS[field]);
  return line(names) + all.map((person) => line(fields.map((field) => person[field]))).join('');
}
