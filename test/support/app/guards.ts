/**
 * Settings under which no guard stops an import that changes most of a few users. They are for tests of other rules.
 */
export const LAX_GUARDS: Readonly<Record<string, string>> = {
  IMPORT_SMALL_DATASET: '0',
  IMPORT_MAX_CHANGED: '1000',
  IMPORT_MAX_CHANGED_LOGINS: '1000',
  IMPORT_MAX_MOVED: '1000',
  IMPORT_MAX_FOREIGN: '1000',
  IMPORT_MAX_ERRORS: '1000',
  IMPORT_MAX_OLD_FILE: '1000',
  IMPORT_MAX_UNDONE: '1000',
};
