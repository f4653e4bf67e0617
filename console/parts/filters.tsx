import type { ProblemError } from '../api/problem.js';
import { setQuery } from '../lib/url.js';

/** Attributes for a person filter, which accepts what `findId` finds. */
export const NAME_INPUT = { placeholder: 'name or id', spellcheck: false, autocomplete: 'off' } as const;

/**
 * Returns a function that builds the attributes of filter fields, whose values the URL contains.
 * @param unknown filter whose text does not find exactly one user.
 */
export const createFilter =
  (query: URLSearchParams, problem: ProblemError | undefined, unknown: string | undefined) =>
  (name: string) => ({
    name,
    value: query.get(name) ?? '',
    error:
      unknown === name
        ? 'does not match exactly one user'
        : problem?.code === 'invalid_parameter' && problem.detail.includes(name)
          ? 'is invalid'
          : '',
    onValue: (value: string) => {
      setQuery({ [name]: value.trim(), after: undefined }, { replace: true });
    },
  });

/** Converts a local time to UTC. A date means midnight in the local time zone. The service rejects invalid values. */
export function toUtc(value: string): string {
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
export function TimeField(props: {
  name: string;
  label: string;
  value: string;
  onValue: (value: string) => void;
}) {
  const { name, label: text, value, onValue } = props;
  return (
    <div class="field">
      <label for={`filter-${name}`}>{text}</label>
      <input
        id={`filter-${name}`}
        type="datetime-local"
        value={toLocalInput(value)}
        onChange={(event) => {
          const { value: typed } = event.currentTarget;
          onValue(typed === '' ? '' : new Date(typed).toISOString());
        }}
      />
    </div>
  );
}
