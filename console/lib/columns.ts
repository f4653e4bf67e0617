/** Column names of an import file (docs/imports.md). */
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

/** Mapping value of a column that is ignored. */
export const IGNORE = 'ignore';
