import { nearest } from '../../platform/common/nearest.js';
import { normalForm } from '../../platform/common/text.js';
import { parsedUrl } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';

type CellKind = 'text' | 'flag' | 'roles' | 'saml' | 'manager' | 'network';

export interface Column {
  /** As the template and the export spell it. */
  name: string;
  aliases: readonly string[];
  kind: CellKind;
  /** Wire name of the field that the cell fills; of a network, its name. */
  field: string;
  /** An empty cell never changes the field, whatever `blank_cells` says. */
  keepsBlank?: true;
  /** Spreadsheets may convert such text to a number and damage it. */
  looksNumeric?: true;
  /** The stored form of a cell, where people write the same value in several. */
  form?: (cell: string) => string;
  /** The cell of a user; `manager` is the manager's external id. */
  write: (user: User, manager: string) => string;
}

/** The fields of a user that are texts. */
type TextField = keyof { [K in keyof User as User[K] extends string ? K : never]: K };

type Extras = Partial<Pick<Column, 'aliases' | 'keepsBlank' | 'looksNumeric' | 'form'>>;

const text = (name: string, field: TextField, extras: Extras = {}): Column => ({
  name,
  aliases: [],
  kind: 'text',
  field,
  write: (user) => user[field],
  ...extras,
});

const flag = (name: string, field: 'hide_email' | 'hide_phone_numbers'): Column => ({
  name,
  aliases: [],
  kind: 'flag',
  field,
  write: (user) => String(user[field]),
});

const network = (name: string, field: 'linkedin' | 'facebook' | 'twitter'): Column => ({
  name,
  aliases: [],
  kind: 'network',
  field,
  form: parsedUrl,
  write: (user) => user.social_media[field] ?? '',
});

/** The columns of a file, in the order of the template (interface §6). */
export const COLUMNS: readonly Column[] = [
  text('ExternalId', 'external_id', { aliases: ['GUID'], looksNumeric: true }),
  text('Username', 'username', { keepsBlank: true }),
  text('Email', 'email', { keepsBlank: true }),
  text('ForeName', 'firstname', { aliases: ['FirstName'] }),
  text('Surname', 'surname', { aliases: ['LastName'] }),
  text('MiddleName', 'middle_name'),
  text('KnownAs', 'known_as'),
  text('Phone', 'phone', { looksNumeric: true }),
  text('Mobile', 'mobile', { looksNumeric: true }),
  text('Status', 'status', { keepsBlank: true }),
  {
    name: 'Roles',
    aliases: ['Role'],
    kind: 'roles',
    field: 'roles',
    keepsBlank: true,
    write: (user) => user.roles.join('|'),
  },
  {
    name: 'Authname',
    aliases: ['saml'],
    kind: 'saml',
    field: 'authname',
    write: (user) => joinList(user.authname['saml'] ?? []),
  },
  {
    name: 'Manager',
    aliases: [],
    kind: 'manager',
    field: 'manager_uuid',
    looksNumeric: true,
    write: (_, manager) => manager,
  },
  flag('HideEmail', 'hide_email'),
  flag('HidePhone', 'hide_phone_numbers'),
  network('Linkedin', 'linkedin'),
  network('Facebook', 'facebook'),
  network('Twitter', 'twitter'),
  text('ImageUrl', 'user_avatar', { form: parsedUrl }),
  text('AboutMe', 'about_me'),
];

/** Header names are compared in any case, without regard to spaces, `_` and `-`. */
export function headerKey(name: string): string {
  return normalForm(name, 'NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '');
}

const BY_KEY = new Map(
  COLUMNS.flatMap((column) =>
    [column.name, ...column.aliases].map((name) => [headerKey(name), column] as const),
  ),
);

export function columnOf(header: string): Column | undefined {
  return BY_KEY.get(headerKey(header));
}

/** The column that a header most likely misspells: at most one edit in three letters, and two in all. */
export function nearestColumn(header: string): Column | undefined {
  const key = headerKey(header);
  return BY_KEY.get(nearest(key, BY_KEY.keys(), Math.min(2, Math.floor(key.length / 3))) ?? '');
}

/** The cells of a user, in the order of `COLUMNS`. */
export function cellsOf(user: User, manager: string): string[] {
  return COLUMNS.map((column) => column.write(user, manager));
}

/**
 * Joins the values of a cell with `|`. A `|` inside a value becomes `\|`. Backslashes are doubled only before a `|`, so
 * that `DOMAIN\name` is written, and typed by people, as it is.
 */
export function joinList(values: readonly string[]): string {
  const [only] = values;
  if (only !== undefined && values.length === 1 && !only.includes('|')) return only; // the usual cell
  return values
    .map((value, index) => {
      const escaped = value.replace(/(\\*)\|/g, '$1$1\\|');
      return index < values.length - 1 ? escaped.replace(/(\\+)$/, '$1$1') : escaped;
    })
    .join('|');
}

/** The values of a cell that `joinList` or a person wrote, trimmed and without empty ones. */
export function splitList(cell: string): string[] {
  if (!cell.includes('|')) return isBlank(cell) ? [] : [cell.trim()];
  const values: string[] = [];
  let value = '';
  let at = 0;
  for (const match of cell.matchAll(/(\\*)\|/g)) {
    const slashes = match[1] ?? '';
    value += cell.slice(at, match.index) + '\\'.repeat(slashes.length / 2);
    at = match.index + match[0].length;
    if (slashes.length % 2 === 1) {
      value += '|';
    } else {
      values.push(value);
      value = '';
    }
  }
  values.push(value + cell.slice(at));
  return values.filter((value) => !isBlank(value)).map((value) => value.trim());
}

const isBlank = (text: string): boolean => text.trim() === '';

/** Words in the headers of columns that hold passwords. */
const PASSWORD_WORDS = (
  'password passwd passwort passphrase passcode pwd kennwort motdepasse contraseña contrasena wachtwoord lösenord salasana ' +
  'secret hash'
).split(' ');

/** Whether the cells of a column may be passwords, by its name. Rather one too many: such a column is only not read. */
export function mayHoldPassword(header: string): boolean {
  const key = headerKey(header);
  return PASSWORD_WORDS.some((word) => key.includes(word));
}
