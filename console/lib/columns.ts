/** The columns of an import (docs/imports.md). */
export const COLUMNS: readonly string[] = [
  'ExternalId',
  'Username',
  'Email',
  'ForeName',
  'Surname',
  'MiddleName',
  'KnownAs',
  'Phone',
  'Mobile',
  'Status',
  'Roles',
  'Authname',
  'Manager',
  'HideEmail',
  'HidePhone',
  'Linkedin',
  'Facebook',
  'Twitter',
  'ImageUrl',
  'AboutMe',
];

/** A column of the file that is left out. */
export const IGNORE = 'ignore';
