/** Column names of an import file with the user fields that they fill (docs/imports.md). */
export const COLUMNS: readonly (readonly [name: string, field: string])[] = [
  ['ExternalId', 'external_id'],
  ['Username', 'username'],
  ['Email', 'email'],
  ['ForeName', 'firstname'],
  ['Surname', 'surname'],
  ['MiddleName', 'middle_name'],
  ['KnownAs', 'known_as'],
  ['Phone', 'phone'],
  ['Mobile', 'mobile'],
  ['Status', 'status'],
  ['Roles', 'roles'],
  ['Authname', 'authname'],
  ['Manager', 'manager'],
  ['HideEmail', 'hide_email'],
  ['HidePhone', 'hide_phone_numbers'],
  ['Linkedin', 'linkedin'],
  ['Facebook', 'facebook'],
  ['Twitter', 'twitter'],
  ['ImageUrl', 'user_avatar'],
  ['AboutMe', 'about_me'],
];

/** Columns that every new user needs. */
export const REQUIRED_COLUMNS: readonly string[] = ['ExternalId', 'Username', 'Email'];

/** Mapping value of a column that is ignored. */
export const IGNORE = 'ignore';

/** Returns the user field that an import column fills. */
export const getField = (column: string): string => COLUMNS.find(([name]) => name === column)?.[1] ?? column;

/** Returns the key by which the service compares column names. */
export const toHeaderKey = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, '');
