import { InvalidArgumentError } from 'commander';
import { ApiKeyInput } from '../api-keys/api-key.input.js';
import { readInput } from '../input/read-input.js';
import { type DbTime, now, secondsFrom, toDbTime, toMillis } from '../common/time.js';

const DAY_SECONDS = 24 * 60 * 60;

/** The name of a key, by the rules of every door. @throws InvalidArgumentError */
export function parseName(text: string): string {
  const { value, errors } = readInput(ApiKeyInput, { name: text });
  const [fault] = errors;
  if (fault) throw new InvalidArgumentError(`It needs 1 to 255 characters: ${fault.field} ${fault.message}.`);
  return value.name;
}

/** When a key ends: a date to come, or days from now. @throws InvalidArgumentError */
export function parseExpiry(text: string): DbTime {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return secondsFrom(now(), Number(days) * DAY_SECONDS);
  const day = `${text} 00:00:00.000`;
  const known = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(toMillis(day));
  // Compared with what was typed, because `Date` takes 31 February for a day in March.
  if (!known || toDbTime(new Date(toMillis(day))) !== day || day <= now()) {
    throw new InvalidArgumentError(
      'It must be a date to come, such as 2027-01-31, or a number of days, such as 90d.',
    );
  }
  return day;
}
