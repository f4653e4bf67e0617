import { Transform } from 'class-transformer';
import { IsInt, Max, Min, ValidateBy } from 'class-validator';
import { Cron } from 'croner';

/** Kinds of settings: how a variable's text is read, and the rules that come with it. */

export const Integer = () =>
  Transform(({ value }) =>
    typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : (value as unknown),
  );

export const Flag = () =>
  Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : (value as unknown)));

export const List = () =>
  Transform(({ value }) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : (value as unknown),
  );

/** The decorators of a kind of setting as one. */
const together =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
/** An integer from 1. */
export const Count = () => together(Integer(), IsInt(), Min(1));
/** 0 to 100. */
export const Percent = () => together(Integer(), IsInt(), Min(0), Max(100));

/** Everything that `data-source-options.ts` takes apart must be possible to take apart. */
export function isDatabaseUrl(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (!/^(mysql|mariadb):/.test(value)) return /^sqlite:.+/.test(value);
  try {
    const { hostname, username, password, pathname, hash, search } = new URL(value);
    [username, password].forEach(decodeURIComponent);
    return hostname !== '' && hash + search === '' && /^[^/]+$/.test(decodeURIComponent(pathname.slice(1)));
  } catch {
    return false;
  }
}

/** SQLite has one connection and one writer. */
export const OneOnSqlite = () =>
  ValidateBy({
    name: 'oneOnSqlite',
    validator: {
      validate: (value, args) =>
        value === 1 || !(args?.object as { databaseUrl: string }).databaseUrl.startsWith('sqlite:'),
      defaultMessage: () =>
        'WORKERS must be 1 on SQLite, which has one writer; more of them need MariaDB or MySQL (DATABASE_URL)',
    },
  });

/** Five fields, as in a crontab. */
export const CronExpression = () =>
  checked('must be a cron expression of five fields', (text) => {
    return text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null;
  });

export const TimeZone = () =>
  checked('must be an IANA time zone such as Europe/London', (text) => {
    return new Intl.DateTimeFormat('en', { timeZone: text }).format() !== '';
  });

/** A rule that a text obeys when `test` is true; one that throws says no. */
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
