import { isURL, length } from 'class-validator';
import { Cron } from 'croner';
import { isGuessableKey } from '../common/secret-rules.js';
import { readDatabaseUrl } from './database-url.js';

/** The value of a setting and the rules that it breaks. */
interface Reading<Value> {
  /** Undefined for text that is not a value of this kind. */
  value: Value | undefined;
  /** Error texts, with `$property` for the name of the setting. */
  broken: readonly string[];
}

/** How the text of a setting is read and checked. */
export interface Kind<Value> {
  read: (text: string) => Reading<Value>;
  /** The valid numbers, as documents show them. */
  range?: string;
}

/** A rule and its error text. */
type Rule<Value> = readonly [isKept: (value: Value) => boolean, error: string];

/** Text that `parse` cannot read breaks all rules. */
function kind<Value>(
  parse: (text: string) => Value | undefined,
  rules: readonly Rule<Value>[],
): Pick<Kind<Value>, 'read'> {
  return {
    read: (text) => {
      const value = parse(text);
      const broken = rules.filter(([isKept]) => value === undefined || !isKept(value));
      return { value, broken: broken.map(([, error]) => error) };
    },
  };
}

/** @param test must return true and not throw. */
export function checkedText(rule: string, test: (text: string) => boolean): Kind<string> {
  const isKept = (text: string): boolean => {
    try {
      return test(text);
    } catch {
      return false;
    }
  };
  return kind((text) => text, [[isKept, `$property must ${rule}`]]);
}

export const text = (max: number): Kind<string> =>
  checkedText(`be shorter than or equal to ${max} characters`, (value) => length(value, 0, max));

export const matching = (form: RegExp, rule: string): Kind<string> =>
  checkedText(rule, (value) => form.test(value));

/** The path of a file or folder. */
export const path = text(4096);

export const url = (options: Parameters<typeof isURL>[1] = {}): Kind<string> =>
  checkedText('be a URL address', (value) =>
    isURL(value, { require_tld: false, require_protocol: true, protocols: ['http', 'https'], ...options }),
  );

export const oneOf = <Value extends string>(...values: Value[]): Kind<Value> =>
  kind(
    (text) => values.find((value) => value === text),
    [[() => true, `$property must be one of the following values: ${values.join(', ')}`]],
  );

export const flag: Kind<boolean> = kind(
  (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  [[() => true, '$property must be a boolean value']],
);

function number(form: RegExp, rule: string, min: number, max: number): Kind<number> {
  const limits: Rule<number>[] = [
    [(value) => value >= min, `$property must not be less than ${min}`],
    [(value) => value <= max, `$property must not be greater than ${max}`],
  ];
  return {
    ...kind(
      (text) => (form.test(text) ? Number(text) : undefined),
      [[() => true, `$property must be ${rule}`], ...limits.slice(0, max === Infinity ? 1 : 2)],
    ),
    range: max === Infinity ? `${min} or more` : `${min} to ${max}`,
  };
}

export const integer = (min: number, max = Infinity): Kind<number> =>
  number(/^\d{1,9}$/, 'an integer number', min, max);

/** A number with up to three decimals. */
export const decimal = (min: number, max: number): Kind<number> =>
  number(/^\d{1,6}(\.\d{1,3})?$/, 'a number conforming to the specified constraints', min, max);

export const count = integer(1);
/** A number of rows or users. */
export const rows = integer(0, 1_000_000);
export const percent = integer(0, 100);

/** Items separated by commas. */
export const list = (error: string, isItem: (item: string) => boolean): Kind<readonly string[]> =>
  kind(
    (text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    [[(items) => items.every(isItem), error]],
  );

/** A file of SQLite, or a URL of MariaDB or MySQL. */
export const databaseUrl = checkedText(
  'be sqlite:<file> or mysql://user:password@host:port/database, percent-encoded; ' +
    'several hosts are separated by commas',
  (text) => /^sqlite:.+/.test(text) || readDatabaseUrl(text) !== undefined,
);

/** Five fields, as in a crontab. */
export const cron = checkedText(
  'be a cron expression of five fields',
  (text) => text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null,
);

export const timeZone = checkedText(
  'be an IANA time zone such as Europe/London',
  (text) => new Intl.DateTimeFormat('en', { timeZone: text }).format() !== '',
);

/** An API key that a person chose. */
export const chosenKey = checkedText(
  'be 32 to 128 printable ASCII characters, and more than repetitions, sequences and words',
  (text) => /^[\x21-\x7e]{32,128}$/.test(text) && !isGuessableKey(text),
);
