import { IsInt, Max, Min } from 'class-validator';
import { Integer, Percent, Rows } from './setting-kinds.js';

/**
 * The limits of the guards of imports (docs/imports.md). Each one is the greatest number that passes; where a number and a
 * share are given, the greater one counts.
 */
export class ImportGuardSettings {
  /** Users that one import may block without approval … */
  @Rows()
  IMPORT_MAX_DEACTIVATIONS: number = 5;

  /** … or this share of the active users in its scope, if that is more … */
  @Percent()
  IMPORT_MAX_DEACTIVATIONS_PERCENT: number = 10;

  /** … but never more than this: a percentage of a large data set is a crowd. */
  @Rows()
  IMPORT_MAX_DEACTIVATIONS_TOTAL: number = 200;

  /** Users that one import may reactivate without approval … */
  @Rows()
  IMPORT_MAX_REACTIVATIONS: number = 5;

  /** … or this share of the active users in its scope, if that is more … */
  @Percent()
  IMPORT_MAX_REACTIVATIONS_PERCENT: number = 10;

  /** … but never more than this. */
  @Rows()
  IMPORT_MAX_REACTIVATIONS_TOTAL: number = 200;

  /** What the unapproved imports of a data set may block or reactivate within seven days: so many times the limit of one import. */
  @Integer()
  @IsInt()
  @Min(1)
  @Max(100)
  IMPORT_WEEK_FACTOR: number = 2;

  /** Users whose value in one column may be replaced by another … */
  @Rows()
  IMPORT_MAX_CHANGED: number = 4;

  /** … or this share of the matched users, if that is more. */
  @Percent()
  IMPORT_MAX_CHANGED_PERCENT: number = 20;

  /** The same for username, e-mail, authname and roles: with them people log in, and get rights … */
  @Rows()
  IMPORT_MAX_CHANGED_LOGINS: number = 2;

  /** … or this share of the matched users, if that is more. */
  @Percent()
  IMPORT_MAX_CHANGED_LOGINS_PERCENT: number = 10;

  /** Users whose value in one column may be emptied … */
  @Rows()
  IMPORT_MAX_EMPTIED: number = 4;

  /** … or this share of the matched users, if that is more. */
  @Percent()
  IMPORT_MAX_EMPTIED_PERCENT: number = 10;

  /** Rows that may take a username, e-mail, authname or phone which another row gives up … */
  @Rows()
  IMPORT_MAX_MOVED: number = 3;

  /** … or this share of the matched users, if that is more. */
  @Percent()
  IMPORT_MAX_MOVED_PERCENT: number = 2;

  /** Users who may get one and the same value in a column that had more than ten … */
  @Rows()
  IMPORT_MAX_SAME: number = 9;

  /** … or this share of the matched users, if that is more; of new users, in their names. */
  @Percent()
  IMPORT_MAX_SAME_PERCENT: number = 50;

  /** Values that may lose their accents, or be encoded twice … */
  @Rows()
  IMPORT_MAX_GARBLED: number = 3;

  /** … or this share of the rows, if that is more. */
  @Percent()
  IMPORT_MAX_GARBLED_PERCENT: number = 1;

  /** New external ids, with as many lost ones, above which the key column counts as changed … */
  @Rows()
  IMPORT_MAX_NEW_KEYS: number = 5;

  /** … or this share of the linked users, if that is more. */
  @Percent()
  IMPORT_MAX_NEW_KEYS_PERCENT: number = 20;

  /** With `missing=block`: least share of the rows of the last completed import of the data set. */
  @Percent()
  IMPORT_MIN_SIZE_PERCENT: number = 80;

  /** Users that the last import changed and that may be changed back … */
  @Rows()
  IMPORT_MAX_UNDONE: number = 4;

  /** … or this share of what it changed, if that is more. */
  @Percent()
  IMPORT_MAX_UNDONE_PERCENT: number = 50;

  /** Users that a file may change which was imported before, and another one since. */
  @Rows()
  IMPORT_MAX_OLD_FILE: number = 0;

  /** Matched users that may belong to another data set … */
  @Rows()
  IMPORT_MAX_FOREIGN: number = 4;

  /** … or this share of the matched users, if that is more. */
  @Percent()
  IMPORT_MAX_FOREIGN_PERCENT: number = 10;

  /** Rows that may fail, those that failed in the same way in the last import aside … */
  @Rows()
  IMPORT_MAX_ERRORS: number = 4;

  /** … or this share of the rows, if that is more. */
  @Percent()
  IMPORT_MAX_ERRORS_PERCENT: number = 10;

  /** Users for whom an import may repeat a change that a revert undid. */
  @Rows()
  IMPORT_MAX_REPEATED: number = 0;

  /** Below this many users in scope a data set is small: the floors are lower, since five of eight are a crowd … */
  @Rows()
  IMPORT_SMALL_DATASET: number = 50;

  /** … for users that are blocked, changed, emptied or moved, or have new ids. */
  @Integer()
  @IsInt()
  @Min(1)
  @Max(1000)
  IMPORT_SMALL_DATASET_ROWS: number = 3;
}

/** Settings of older versions that would be ignored without a word, and what replaces them. */
export const RETIRED: ReadonlyMap<string, string> = new Map([
  ['IMPORT_MAX_COLUMN', 'IMPORT_MAX_CHANGED, IMPORT_MAX_CHANGED_LOGINS and IMPORT_MAX_EMPTIED'],
  [
    'IMPORT_MAX_COLUMN_PERCENT',
    'IMPORT_MAX_CHANGED_PERCENT, IMPORT_MAX_CHANGED_LOGINS_PERCENT and IMPORT_MAX_EMPTIED_PERCENT',
  ],
]);
