import { isURL, length } from 'class-validator';
import { Cron } from 'croner';
import { isGuessableKey } from '../common/secret-rules.js';
import { parseDatabaseUrl } from './database-url.js';

interface ParsedSetting<Value> {
  /** Undefined for text that cannot be parsed. */
  value: Value | undefined;
  /** Error texts. The placeholder `$property` stands for the name of the setting. */
  errors: readonly string[];
}

/** The type of a setting: parses and validates its text. */
export interface SettingType<Value> {
  parse: (text: string) => ParsedSetting<Value>;
  /** Range of valid numbers, for the documentation. */
  range?: string;
}

type Rule<Value> = readonly [isValid: (value: Value) => boolean, error: string];

/** Creates a setting type. A text that cannot be parsed gets the error texts of all rules. */
function createType<Value>(
  parse: (text: string) => Value | undefined,
  rules: readonly Rule<Value>[],
): Omit<SettingType<Value>, 'range'> {
  return {
    parse: (text) => {
      const value = parse(text);
      const broken = rules.filter(([isValid]) => value === undefined || !isValid(value));
      return { value, errors: broken.map(([, error]) => error) };
    },
  };
}

/** Creates a text type with a custom rule. @param test returns false or throws for invalid text. */
export function createCustomTextType(rule: string, test: (text: string) => boolean): SettingType<string> {
  const isValid = (text: string): boolean => {
    try {
      return test(text);
    } catch {
      return false;
    }
  };
  return createType((text) => text, [[isValid, `$property must ${rule}`]]);
}

export const createTextType = (max: number): SettingType<string> =>
  createCustomTextType(`have at most ${max} characters`, (value) => length(value, 0, max));

export const createPatternType = (pattern: RegExp, rule: string): SettingType<string> =>
  createCustomTextType(rule, (value) => pattern.test(value));

export const createPathType = createTextType(4096);

export const createUrlType = (options: Parameters<typeof isURL>[1] = {}): SettingType<string> =>
  createCustomTextType('be a valid URL', (value) =>
    isURL(value, { require_tld: false, require_protocol: true, protocols: ['http', 'https'], ...options }),
  );

export const createEnumType = <Value extends string>(...values: Value[]): SettingType<Value> =>
  createType(
    (text) => values.find((value) => value === text),
    [[() => true, `$property must be one of ${values.join(', ')}`]],
  );

export const createBooleanType: SettingType<boolean> = createType(
  (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  [[() => true, '$property must be true or false']],
);

function createNumberType(pattern: RegExp, rule: string, min: number, max: number): SettingType<number> {
  const limits: Rule<number>[] = [
    [(value) => value >= min, `$property must be at least ${min}`],
    [(value) => value <= max, `$property must be at most ${max}`],
  ];
  return {
    ...createType(
      (text) => (pattern.test(text) ? Number(text) : undefined),
      [[() => true, `$property must be ${rule}`], ...limits.slice(0, max === Infinity ? 1 : 2)],
    ),
    range: max === Infinity ? `${min} or more` : `${min} to ${max}`,
  };
}

export const createIntegerType = (min: number, max = Infinity): SettingType<number> =>
  createNumberType(/^\d{1,9}$/, 'an integer', min, max);

export const createDecimalType = (min: number, max: number): SettingType<number> =>
  createNumberType(/^\d{1,6}(\.\d{1,3})?$/, 'a number with at most three decimals', min, max);

export const createCountType = createIntegerType(1);
export const createRowsType = createIntegerType(0, 1_000_000);
export const createPercentType = createIntegerType(0, 100);

export const createListType = (
  rule: string,
  isValidItem: (item: string) => boolean,
): SettingType<readonly string[]> =>
  createType(
    (text) => text.split(',').flatMap((item) => item.trim() || []),
    [[(items) => items.every(isValidItem), `$property must ${rule}`]],
  );

export const createDatabaseUrlType = createCustomTextType(
  'be sqlite:<file> or mysql://user:password@host:port/database, percent-encoded, with hosts separated by commas',
  (text) => /^sqlite:.+/.test(text) || parseDatabaseUrl(text) !== undefined,
);

export const createCronType = createCustomTextType(
  'be a cron expression of five fields',
  (text) => text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null,
);

export const createTimeZoneType = createCustomTextType(
  'be an IANA time zone such as Europe/London',
  (text) => new Intl.DateTimeFormat('en', { timeZone: text }).format() !== '',
);

export const createChosenKeyType = createCustomTextType(
  'be 32 to 128 printable ASCII characters that are hard to guess (no repetitions, sequences or words)',
  (text) => /^[\x21-\x7e]{32,128}$/.test(text) && !isGuessableKey(text),
);
