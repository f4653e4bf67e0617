import { fieldsOf } from '../../platform/common/fields.js';
import type { GuardOverrides } from './guard-limits.js';
import { ImportOptions } from './import-options.js';

/** Of a source column that is dropped when it is read. */
export const IGNORE = 'ignore';

/** How the files of one source are read, as it was checked when it was saved (interface §6). */
export interface ImportProfile extends Partial<ImportOptions> {
  /** Source header → our column, or `ignore`. Several may fill Status, of which `Blocked` wins. */
  columns: Readonly<Record<string, string>>;
  /** By source header or by our column: the words of the source and what they mean. */
  values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Our column → a constant, or a template over the columns of the source. */
  set?: Readonly<Record<string, string>>;
  /** One character that is taken off the front of every cell. */
  strip_prefix?: string;
  /** Lines of text above the header, and below the last row. */
  skip_lines?: number;
  skip_last_lines?: number;
  /** Names of files in the drop folder that it is for; `*` matches any characters and `?` one. */
  pattern?: string;
  /** Limits of guards that go before the settings. */
  guards?: GuardOverrides;
}

/** A profile as a run keeps it: the plan must not change with the profile that it was made of. */
export interface NamedProfile extends ImportProfile {
  name: string;
}

/** The options of an import that a profile sets. */
export function optionsOf(profile: ImportProfile): Partial<ImportOptions> {
  const names = fieldsOf(ImportOptions);
  return Object.fromEntries(Object.entries(profile).filter(([name]) => names.has(name)));
}
