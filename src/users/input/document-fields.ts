import { isObject } from '../../common/json.js';
import { Rule, all, line } from '../../input/rules.js';
import { caseFold, isCleanText, isWithin, normalise, truncated } from '../../common/text.js';
import { isHttpUrl } from '../model/formats.js';
import { NETWORKS } from '../model/user.js';

/** Rules of the fields that are no plain text: roles, authname, social_media. */

const METHOD = /^[a-z0-9_-]{1,32}$/;
const MAX_ROLES = 32;
export const MAX_METHODS = 8;
const MAX_VALUES = 20;
const MAX_VALUE = 255;
const MAX_URL = 2048;

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
const isStringArray = (value: unknown): boolean =>
  Array.isArray(value) && strings(value).length === value.length;
const hasDuplicates = (values: readonly string[]): boolean => new Set(values).size < values.length;
const values = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : []);
const keys = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);

/** `[]` clears. Unknown names stay as they are, to be refused by name. */
export function toRoles(raw: unknown): unknown {
  if (!isStringArray(raw)) return raw;
  const roles = strings(raw).map((role) => line(role) ?? '');
  return roles.length === 0 ? null : roles;
}

export const rolesRules = (): PropertyDecorator =>
  all(
    Rule('invalid_type', 'must be an array of strings', isStringArray),
    Rule('too_long', `may hold at most ${MAX_ROLES} roles`, (value) => strings(value).length <= MAX_ROLES),
    Rule(
      'invalid_value',
      'may not name a role twice',
      (value) => !hasDuplicates(strings(value).map(caseFold)),
    ),
  );

/** `{}` clears. */
export function toAuthname(raw: unknown): unknown {
  if (!isObject(raw) || !values(raw).every(isStringArray)) return raw;
  const methods = Object.entries(raw).map(([method, names]) => [method, strings(names).map(normaliseName)]);
  return methods.length === 0 ? null : Object.fromEntries(methods);
}

const normaliseName = (name: string): string => (name.isWellFormed() ? normalise(name) : name);
const names = (value: unknown): string[] => values(value).flatMap(strings);

export const authnameRules = (): PropertyDecorator =>
  all(
    Rule(
      'invalid_type',
      'must be an object of arrays of strings',
      (value) => isObject(value) && values(value).every(isStringArray),
    ),
    Rule(
      'invalid_format',
      'must hold methods of 1 to 32 of a-z, 0-9, _ and -, and names without control characters',
      (value) =>
        keys(value).every((method) => METHOD.test(method)) && names(value).every((name) => isCleanText(name)),
    ),
    Rule(
      'too_long',
      `may hold at most ${MAX_METHODS} methods of ${MAX_VALUES} names of ${MAX_VALUE} characters`,
      (value) =>
        keys(value).length <= MAX_METHODS &&
        values(value).every((list) => strings(list).length <= MAX_VALUES) &&
        names(value).every((name) => isWithin(name, MAX_VALUE)),
    ),
    Rule(
      'invalid_value',
      'may not hold an empty name or a name twice in one method',
      (value) =>
        names(value).every((name) => name !== '') &&
        !values(value).some((list) => hasDuplicates(strings(list))),
    ),
  );

/** `{}` clears. Empty text inside removes one network; null and empty text are the same. */
export function toSocialMedia(raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const networks = Object.entries(raw).map(([network, url]) => [network, line(url) ?? '']);
  return networks.length === 0 ? null : Object.fromEntries(networks);
}

export const socialMediaRules = (): PropertyDecorator =>
  all(
    Rule(
      'invalid_type',
      'must be an object of strings',
      (value) => isObject(value) && values(value).every((url) => typeof url === 'string'),
    ),
    Rule(
      'unknown_field',
      (value) =>
        `may hold only ${NETWORKS.join(', ')} (${truncated(unknownNetworks(value).join(', '), 200)} is none)`,
      (value) => unknownNetworks(value).length === 0,
    ),
    Rule('too_long', `may hold URLs of at most ${MAX_URL} characters`, (value) =>
      urls(value).every((url) => isWithin(url, MAX_URL)),
    ),
    Rule('invalid_format', 'must hold http or https URLs', (value) =>
      urls(value).every((url) => url === '' || (isCleanText(url) && isHttpUrl(url))),
    ),
  );

const unknownNetworks = (value: unknown): string[] =>
  keys(value).filter((network) => !(NETWORKS as readonly string[]).includes(network));
const urls = (value: unknown): string[] =>
  values(value).filter((url): url is string => typeof url === 'string');
