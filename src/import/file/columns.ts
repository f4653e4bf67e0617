import { findNearest } from '../../platform/common/nearest.js';
import { toNormalForm } from '../../platform/common/text.js';
import { normalizeUrl } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';

type CellKind = 'text' | 'flag' | 'roles' | 'saml' | 'manager' | 'network';

export interface Column {
  /** Column name in the template file and in the export. */
  name: string;
  aliases: readonly string[];
  kind: CellKind;
  /** Wire name of the user field that the cell sets. For a social network, the name of the network. */
  field: string;
  /** True if an empty cell never changes the field, regardless of `blank_cells`. */
  ignoresBlank?: true;
  /** True if a cell may look like a number, which spreadsheets may convert and damage. */
  looksNumeric?: true;
  /**
   * Converts a cell to the form in which the database stores its value. Set only for fields whose values can be written
   * in several ways.
   */
  toStored?: (cell: string) => string;
  /** Returns the cell of a user in the export. `manager` is the text of the manager cell. */
  toCell: (user: User, manager: string) => string;
}

type TextField = keyof { [K in keyof User as User[K] extends string ? K : never]: K };

type ColumnOptions = Partial<Pick<Column, 'aliases' | 'ignoresBlank' | 'looksNumeric' | 'toStored'>>;

const defineColumn = (
  kind: CellKind,
  name: string,
  field: string,
  toCell: Column['toCell'],
  extras: ColumnOptions = {},
): Column => ({ name, aliases: [], kind, field, toCell, ...extras });

const defineText = (name: string, field: TextField, extras?: ColumnOptions): Column =>
  defineColumn('text', name, field, (user) => user[field], extras);

const defineFlag = (name: string, field: 'hide_email' | 'hide_phone_numbers'): Column =>
  defineColumn('flag', name, field, (user) => String(user[field]));

const defineNetwork = (name: string, field: 'linkedin' | 'facebook' | 'twitter'): Column =>
  defineColumn('network', name, field, (user) => user.social_media[field] ?? '', { toStored: normalizeUrl });

export const STATUS = defineText('Status', 'status', { ignoresBlank: true });

/** All columns that an import file may have ("import columns"), in the order of the template (interface §6). */
export const COLUMNS: readonly Column[] = [
  defineText('ExternalId', 'external_id', { aliases: ['GUID'], looksNumeric: true }),
  defineText('Username', 'username', { ignoresBlank: true }),
  defineText('Email', 'email', { ignoresBlank: true }),
  defineText('ForeName', 'firstname', { aliases: ['FirstName'] }),
  defineText('Surname', 'surname', { aliases: ['LastName'] }),
  defineText('MiddleName', 'middle_name'),
  defineText('KnownAs', 'known_as'),
  defineText('Phone', 'phone', { looksNumeric: true }),
  defineText('Mobile', 'mobile', { looksNumeric: true }),
  STATUS,
  defineColumn('roles', 'Roles', 'roles', (user) => user.roles.join('|'), {
    aliases: ['Role'],
    ignoresBlank: true,
  }),
  defineColumn('saml', 'Authname', 'authname', (user) => joinList(user.authname['saml'] ?? []), {
    aliases: ['saml'],
  }),
  defineColumn('manager', 'Manager', 'manager_uuid', (_, manager) => manager, { looksNumeric: true }),
  defineFlag('HideEmail', 'hide_email'),
  defineFlag('HidePhone', 'hide_phone_numbers'),
  defineNetwork('Linkedin', 'linkedin'),
  defineNetwork('Facebook', 'facebook'),
  defineNetwork('Twitter', 'twitter'),
  defineText('ImageUrl', 'user_avatar', { toStored: normalizeUrl }),
  defineText('AboutMe', 'about_me'),
];

/** Returns the key by which column names are compared. It ignores case, spaces, `_` and `-`. */
export function toHeaderKey(name: string): string {
  return toNormalForm(name, 'NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '');
}

const BY_KEY = new Map(
  COLUMNS.flatMap((column) =>
    [column.name, ...column.aliases].map((name) => [toHeaderKey(name), column] as const),
  ),
);

export function findColumn(header: string): Column | undefined {
  return BY_KEY.get(toHeaderKey(header));
}

/**
 * Finds the import column whose name a header probably misspells. Allows one edit for every three letters of the
 * header, and at most two edits.
 */
export function findNearestColumn(header: string): Column | undefined {
  const key = toHeaderKey(header);
  return BY_KEY.get(findNearest(key, BY_KEY.keys(), Math.min(2, Math.floor(key.length / 3))) ?? '');
}

/** Returns the cells of a user in the export, in the order of `COLUMNS`. `manager` is the text of the manager cell. */
export function cellsOf(user: User, manager: string): string[] {
  return COLUMNS.map((column) => column.toCell(user, manager));
}

/**
 * Joins values with `|`, and writes a `|` inside a value as `\|`. Doubles a backslash only directly before a `|`, so
 * `DOMAIN\name` stays unchanged.
 */
export function joinList(values: readonly string[]): string {
  const [only] = values;
  if (only !== undefined && values.length === 1 && !only.includes('|')) return only;
  return values
    .map((value, index) => {
      const escaped = value.replace(/(\\*)\|/g, '$1$1\\|');
      return index < values.length - 1 ? escaped.replace(/(\\+)$/, '$1$1') : escaped;
    })
    .join('|');
}

/** Splits a cell into its values, the reverse of `joinList`. Trims values and omits empty values. */
export function splitList(cell: string): string[] {
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
  return listFilled(values).map((value) => value.trim());
}

export const isBlank = (text: string): boolean => text.trim() === '';
export const listFilled = (cells: readonly string[]): string[] => cells.filter((cell) => !isBlank(cell));

const PASSWORD_WORDS = (
  'password passwd passwort passphrase passcode pwd kennwort motdepasse contraseña contrasena wachtwoord lösenord salasana ' +
  'secret hash'
).split(' ');

/**
 * Returns true if a column name suggests that the column contains passwords. A false match only removes the column from
 * `failed.csv` and hides it from profiles.
 */
export function isPasswordHeader(header: string): boolean {
  const key = toHeaderKey(header);
  return PASSWORD_WORDS.some((word) => key.includes(word));
}
