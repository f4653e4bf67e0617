import { caseFold, normalForm } from '../../platform/common/text.js';
import { loginForm } from '../../users/model/keys.js';
import type { Attribute } from './attribute.js';
import type { ScimValue } from './json.js';

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?)?$/i;

/** Milliseconds since 1970 of an ISO 8601 date or time, UTC unless it names a zone; undefined for any other text. */
export function instantOf(text: string): number | undefined {
  const form = TIME.exec(text);
  if (!form) return undefined;
  const zoned = text.length > 10 && form[1] === undefined ? `${text}Z` : text;
  const millis = Date.parse(zoned.toUpperCase());
  return Number.isNaN(millis) ? undefined : millis;
}

/** The form in which values of an attribute are equal, begin, end or are in order; undefined for a value of another type. */
export function comparable(
  attribute: Attribute,
  value: ScimValue | undefined,
): string | number | boolean | undefined {
  if (attribute.compare === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (typeof value !== 'string') return undefined;
  switch (attribute.compare) {
    case 'login':
      return loginForm(value);
    case 'text':
      return normalForm(caseFold(normalForm(value, 'NFC')), 'NFC');
    case 'exact':
      return normalForm(value, 'NFC').trim();
    case 'uuid':
      return value.toLowerCase();
    case 'time':
      return instantOf(value);
  }
}
