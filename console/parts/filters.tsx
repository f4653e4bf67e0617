import { findId } from '../api/users.js';
import { setQuery } from '../lib/url.js';
import { LabelledField, type TextProps } from './field.js';
import type { LoadedList } from './list.js';

/** Attributes of a filter by person. The filter accepts every text that `findId` accepts. */
export const NAME_INPUT = { placeholder: 'name or id', spellcheck: false, autocomplete: 'off' } as const;

/** Returns a function that builds the attributes of the filter fields of a list, whose values the URL contains. */
export const createFilter =
  (query: URLSearchParams, { data, problem }: LoadedList<unknown>) =>
  (name: string) => ({
    name,
    value: query.get(name) ?? '',
    error:
      data?.unknown === name
        ? 'does not match exactly one user'
        : problem?.code === 'invalid_parameter' && problem.detail.startsWith(`${name} `)
          ? 'is invalid'
          : '',
    onValue: (value: string) => setQuery({ [name]: value.trim(), after: undefined }, { replace: true }),
  });

const TIMES = /since$|until$/;
const PEOPLE = ['actor', 'target'];

/**
 * Reads the filters of a list from the URL, with times in UTC and ids instead of user names.
 * @returns the filters, and the name of a filter whose text does not find exactly one user.
 */
export async function readFilters(
  page: URLSearchParams,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ filters: Partial<Record<string, string>>; unknown?: string }> {
  const filters: Record<string, string> = {};
  for (const name of names) {
    const value = page.get(name) ?? '';
    if (value === '') continue;
    const sent = PEOPLE.includes(name)
      ? await findId(value, signal)
      : TIMES.test(name)
        ? toUtc(value)
        : value;
    if (sent === undefined) return { filters, unknown: name };
    filters[name] = sent;
  }
  return { filters };
}

/** Converts a local time to UTC. A date means midnight in the local time zone. The service rejects invalid values. */
function toUtc(value: string): string {
  const date = toDate(value);
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

const toDate = (value: string): Date => new Date(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00` : value);

/** Formats a time for a `datetime-local` input. */
function toLocalInput(value: string): string {
  const date = toDate(value);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A time input in the local time zone. The URL contains the time in UTC, so that it can be shared. */
export const TimeField = ({ value, onValue, ...field }: TextProps) => (
  <LabelledField {...field}>
    {(attributes) => (
      <input
        {...attributes}
        type="datetime-local"
        value={toLocalInput(value)}
        onChange={({ currentTarget: { value: typed } }) => onValue(typed && new Date(typed).toISOString())}
      />
    )}
  </LabelledField>
);
