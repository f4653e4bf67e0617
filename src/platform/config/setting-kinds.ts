import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min, ValidateBy } from 'class-validator';
import { Cron } from 'croner';
import { isGuessableKey, passwordFault } from '../common/secret-rules.js';
import { normalForm } from '../common/text.js';
import { readDatabaseUrl } from './database-url.js';

/** Kinds of settings: how a variable's text is read, and the rules that come with it. */

/** Reads the text of a variable; a default value of the class is left alone. */
const Read = (read: (text: string) => unknown) =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? read(value) : value));

/** Text that is not an integer stays text, and `IsInt` refuses it; so with `Flag` and `IsBoolean`. */
export const Integer = () => Read((text) => (/^\d{1,9}$/.test(text) ? Number(text) : text));

export const Flag = () => Read((text) => (text === 'true' ? true : text === 'false' ? false : text));

export const List = () =>
  Read((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );

/** An integer from 1. */
export const Count = () => applyDecorators(Integer(), IsInt(), Min(1));
/** A number of rows or users; 0 is one. */
export const Rows = () => applyDecorators(Integer(), IsInt(), Min(0), Max(1_000_000));
/** A number with up to three decimals. */
export const Decimal = () => Read((text) => (/^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : text));

/** 0 to 100. */
export const Percent = () => applyDecorators(Integer(), IsInt(), Min(0), Max(100));

/** A file of SQLite, or a URL that `readDatabaseUrl` can read. */
export function isDatabaseUrl(value: unknown): boolean {
  return typeof value === 'string' && (/^sqlite:.+/.test(value) || readDatabaseUrl(value) !== undefined);
}

/** SQLite has one connection and one writer. */
export const OneOnSqlite = () =>
  ValidateBy({
    name: 'oneOnSqlite',
    validator: {
      validate: (value, args) => value === 1 || !isOnSqlite(args?.object),
      defaultMessage: () =>
        'WORKERS must be 1 on SQLite, which has one writer; more of them need MariaDB or MySQL (DATABASE_URL)',
    },
  });

function isOnSqlite(env: object | undefined): boolean {
  return env !== undefined && 'databaseUrl' in env && String(env.databaseUrl).startsWith('sqlite:');
}

/** Five fields, as in a crontab. */
export const CronExpression = () =>
  checked('must be a cron expression of five fields', (text) => {
    return text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null;
  });

export const TimeZone = () =>
  checked('must be an IANA time zone such as Europe/London', (text) => {
    return new Intl.DateTimeFormat('en', { timeZone: text }).format() !== '';
  });

/** A password that a person chose; `minLength` is a setting too. The list of common ones is asked where it is used. */
export const ChosenPassword = (names: readonly string[], minLength: (settings: object) => number) => {
  const fault = (value: unknown, settings: object) =>
    typeof value === 'string'
      ? passwordFault(normalForm(value, 'NFC'), { minLength: minLength(settings), known: names })
      : undefined;
  return ValidateBy({
    name: 'chosenPassword',
    validator: {
      validate: (value, args) => !args || fault(value, args.object) === undefined,
      defaultMessage: (args) =>
        args
          ? `${args.property} must be a good password: it ${fault(args.value, args.object)?.message ?? ''}`
          : '',
    },
  });
};

/** 32 to 128 printable characters that are not easy to guess. */
export const ChosenKey = () =>
  checked(
    'must be 32 to 128 printable ASCII characters, and more than repetitions, sequences and words',
    (text) => /^[\x21-\x7e]{32,128}$/.test(text) && !isGuessableKey(text),
  );

/** Browsers refuse these prefixes without HTTPS (RFC 6265bis), in any case. */
const SECURE_PREFIX = /^__(?:Host|Secure|Http|Host-Http)-/i;

export const PrefixNeedsHttps = (isHttps: (settings: object) => boolean) =>
  ValidateBy({
    name: 'prefixNeedsHttps',
    validator: {
      validate: (value, args) =>
        typeof value !== 'string' ||
        !SECURE_PREFIX.test(value) ||
        (args !== undefined && isHttps(args.object)),
      defaultMessage: (args) =>
        `${args?.property ?? 'it'} must not begin with __Host- or __Secure- unless BASE_URL is https: browsers drop such a cookie`,
    },
  });

/** A rule for text: `test` must return true and not throw. */
function checked(rule: string, test: (text: string) => boolean): PropertyDecorator {
  const validate = (value: unknown): boolean => {
    try {
      return typeof value === 'string' && test(value);
    } catch {
      return false;
    }
  };
  const defaultMessage = (args?: { property: string }) => `${args?.property ?? 'it'} ${rule}`;
  return ValidateBy({ name: 'checked', validator: { validate, defaultMessage } });
}
