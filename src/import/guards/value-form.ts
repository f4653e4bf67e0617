const DATES: readonly RegExp[] = [
  /^\d{4}-\d{1,2}-\d{1,2}$/,
  /^\d{1,2}\.\d{1,2}\.\d{2,4}$/,
  /^\d{1,2}\/\d{1,2}\/\d{2,4}$/,
];
const NUMBER = /^[+-]?\d+([.,]\d+)?$/;
const PHONE = /^(?=(?:\D*\d){5})(?:[+0][\d+()/\s-]*|[\d+()/\s-]*\d[()/\s-][\d+()/\s-]*)$/;
const EMAIL = /^[^\s@]+@([^\s@]+\.?[^\s@]*)$/;
const URL = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i;
/** The forms other than text begin with one of these characters. */
const SPECIAL = /[\d@:]/;

/** Longer values are text. Dates, numbers and addresses are always shorter. */
const MAX_LENGTH = 255;

/** Returns the form of a value (interface §6, `changed_form`). Each date format and each e-mail domain is a form. */
export function formOf(value: string): string {
  if (value.length > MAX_LENGTH || !SPECIAL.test(value)) return 'text';
  const date = DATES.findIndex((format) => format.test(value));
  if (date >= 0) return `date ${date}`;
  if (PHONE.test(value)) return 'phone';
  if (NUMBER.test(value)) return 'number';
  if (URL.test(value)) return 'URL';
  const domain = EMAIL.exec(value)?.[1];
  return domain === undefined ? 'text' : `e-mail ${domain.toLowerCase()}`;
}
