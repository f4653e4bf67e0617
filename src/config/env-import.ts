import { IsOptional, Length } from 'class-validator';
import { Count, CronExpression, Percent, TimeZone } from './setting-kinds.js';

/** The settings of imports: guards and schedule. */
export class ImportSettings {
  /** Users that one import may block unasked … */
  @Count()
  IMPORT_MAX_DEACTIVATIONS: number = 5;

  /** … or this share of the active users in its scope, where that is more. */
  @Percent()
  IMPORT_MAX_DEACTIVATIONS_PERCENT: number = 10;

  /** Users that one import may reactivate unasked … */
  @Count()
  IMPORT_MAX_REACTIVATIONS: number = 5;

  /** … or this share of the active users in its scope, where that is more. */
  @Percent()
  IMPORT_MAX_REACTIVATIONS_PERCENT: number = 10;

  /** New external ids, with as many lost ones, from which the key column counts as changed … */
  @Count()
  IMPORT_MAX_NEW_KEYS: number = 5;

  /** … or this share of the linked users, where that is more. */
  @Percent()
  IMPORT_MAX_NEW_KEYS_PERCENT: number = 20;

  /** With `missing=block`: least share of the rows of the last completed import of the data set. */
  @Percent()
  IMPORT_MIN_SIZE_PERCENT: number = 80;

  /** Users in whom one column is emptied, or the username or e-mail changed, from which an import is asked about … */
  @Count()
  IMPORT_MAX_COLUMN: number = 20;

  /** … where they are also over this share of the matched users. */
  @Percent()
  IMPORT_MAX_COLUMN_PERCENT: number = 20;

  /** Rows with an error from which an import is asked about … */
  @Count()
  IMPORT_MAX_ERRORS: number = 20;

  /** … where they are also over this share of the rows. */
  @Percent()
  IMPORT_MAX_ERRORS_PERCENT: number = 10;

  /** Folder that files are dropped into for scheduled imports; unset: no schedule. */
  @IsOptional()
  @Length(1, 4096)
  IMPORT_FOLDER?: string;

  /** Names of the files to take; `*` and `?` are wildcards. */
  @Length(1, 255)
  IMPORT_PATTERN: string = '*.csv';

  /** When the folder is looked at: minute, hour, day of month, month, day of week. */
  @CronExpression()
  IMPORT_CRON: string = '0 2 * * *';

  /** Time zone of IMPORT_CRON (IANA). */
  @TimeZone()
  IMPORT_TIME_ZONE: string = 'UTC';

  /** Options of scheduled imports, as in the query of `POST /imports`: `mode=upsert&missing=report`. */
  @Length(0, 1000)
  IMPORT_OPTIONS: string = '';

  /** Without a completed import for so many hours, `/status` says that imports are overdue; unset: never. */
  @IsOptional()
  @Count()
  IMPORT_OVERDUE_HOURS?: number;

  /** Finished imports are kept for so many days, with their rows; a plan waits as long for a decision. */
  @Count()
  IMPORT_RETENTION_DAYS: number = 90;
}
