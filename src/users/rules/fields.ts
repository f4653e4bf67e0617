import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsBoolean, IsIn, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { isObject } from '../../platform/common/json.js';
import {
  foldCase,
  isCleanText,
  isWithin,
  toNormalForm,
  normalizeText,
  truncate,
  toChoice,
} from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import {
  NoControlCharacters,
  NoDeceptiveCharacters,
  Normalize,
  Rule,
  LimitSize,
  TextRule,
  NoInvisibleCharacters,
  normalizeLineInput,
  normalizeTextInput,
} from '../../platform/input/field-rules.js';
import { describeTexts } from '../../platform/openapi/shared-schemas.js';
import {
  MAX,
  MAX_ITEMS,
  NETWORKS,
  STATUSES,
  isEmailAddress,
  isHttpUrl,
  localPartOf,
  normalizeUrl,
} from '../model/formats.js';

/**
 * Options of the field decorators. A field decorator defines the normalization, rules and OpenAPI schema of a field.
 */
interface Schema {
  description?: string;
  example: unknown;
  minLength?: number;
  nullable?: boolean;
  writeOnly?: boolean;
}

type TextSchema = Schema & { max: number };
const Text = ({ max, ...schema }: TextSchema) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: max, ...schema }),
    Normalize(normalizeTextInput),
    IsString(),
    MaxLength(max),
  );

const SingleLine = (schema: TextSchema) =>
  applyDecorators(Text(schema), NoControlCharacters(), NoInvisibleCharacters());

/** Declares a field with a single line of text. null clears the field. */
export const Line = (schema: TextSchema) => SingleLine({ nullable: true, ...schema });

export const Paragraphs = (schema: TextSchema) =>
  applyDecorators(
    Text({ nullable: true, ...schema }),
    NoControlCharacters({ newlines: true }),
    NoDeceptiveCharacters(),
  );

const URL_RULE = 'must be an http or https URL with a host and without credentials';
const normalizeUrlInput = (value: unknown): unknown => (isString(value) ? normalizeUrl(value) : value);

export const Url = (schema: Schema) =>
  applyDecorators(
    Line({ max: MAX.url, ...schema }),
    Normalize((raw) => normalizeUrlInput(normalizeTextInput(raw))),
    TextRule('invalid_format', URL_RULE, isHttpUrl),
  );

/** Declares a field with a password, which can contain any characters and is never trimmed. */
export const Secret = (schema: Schema) =>
  applyDecorators(
    Text({ max: MAX.password, writeOnly: true, ...schema }),
    Normalize((raw) => (isString(raw) && raw.isWellFormed() ? toNormalForm(raw, 'NFC') || null : raw)),
    TextRule('invalid_format', 'must not contain invalid Unicode', (text) => text.isWellFormed()),
  );

/** Declares a field with a username. Unlike in other texts, consecutive spaces are collapsed. */
export const Username = (schema: Schema) =>
  applyDecorators(SingleLine({ max: MAX.username, ...schema }), Normalize(normalizeLineInput), IsNotEmpty());

export const Email = (schema: Schema) =>
  applyDecorators(
    SingleLine({ max: MAX.email, ...schema }),
    IsNotEmpty(),
    TextRule('invalid_format', 'must be an e-mail address', isEmailAddress),
    TextRule('too_long', `must have at most ${MAX.localPart} characters before the @`, (text) =>
      isWithin(localPartOf(text), MAX.localPart),
    ),
  );

/** Maximum length of a status or uuid in a request. Valid values are shorter. */
const MAX_SHORT_TEXT = 64;

export const Status = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({ enum: STATUSES, ...schema }),
    LimitSize({ text: MAX_SHORT_TEXT }),
    Normalize((raw) => toChoice(STATUSES, normalizeLineInput(raw))),
    IsNotEmpty(),
    IsString(),
    IsIn(STATUSES, { message: `must be ${STATUSES.join(' or ')}` }),
  );

export const Flag = (schema: Schema) =>
  applyDecorators(ApiPropertyOptional({ type: Boolean, nullable: true, ...schema }), IsBoolean());

export const Reference = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, ...schema }),
    LimitSize({ text: MAX_SHORT_TEXT }),
    Normalize((raw) => (isString(raw) ? normalizeLineInput(raw.toLowerCase()) : raw)),
    IsString(),
    TextRule('invalid_format', 'must be a UUID', isUuid),
  );

const isString = (value: unknown): value is string => typeof value === 'string';
const isStringArray = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isString) : []);
const valuesOf = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : []);
const keysOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);
const isObjectOf = (value: unknown, test: (member: unknown) => boolean): value is object =>
  isObject(value) && valuesOf(value).every(test);
const toNullIfEmpty = (object: object): object | null => (Object.keys(object).length === 0 ? null : object);
const mapValues = (object: object, map: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));

/** Declares a field with a list of roles. `[]` clears the field. Unknown names are kept for the error message. */
export const Roles = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({ ...describeTexts(MAX.role, MAX_ITEMS.roles), nullable: true, ...schema }),
    LimitSize({ text: MAX.role }),
    Normalize((raw) =>
      isStringArray(raw) ? toNullIfEmpty(raw.map((role) => normalizeLineInput(role) ?? '')) : raw,
    ),
    IsString({ each: true, message: 'must be an array of strings' }),
    ArrayMaxSize(MAX_ITEMS.roles, { message: `must contain at most ${MAX_ITEMS.roles} roles` }),
    ArrayUnique((role: unknown) => (isString(role) ? foldCase(role) : role), {
      message: 'must not contain a role twice',
    }),
  );

const METHOD_NAME = /^[a-z0-9_-]{1,32}$/;
const loginNamesOf = (value: unknown): string[] => valuesOf(value).flatMap(stringsOf);
const normalizeName = (name: string): string => (name.isWellFormed() ? normalizeText(name) : name);

/** Declares a field that maps each authentication method to login names. `{}` clears the field. */
export const Authnames = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      nullable: true,
      maxProperties: MAX_ITEMS.methods,
      additionalProperties: describeTexts(MAX.authname, MAX_ITEMS.namesOfMethod),
      ...schema,
    }),
    LimitSize({ text: MAX.authname, items: MAX_ITEMS.namesOfMethod, members: MAX_ITEMS.methods }),
    Normalize((raw) => {
      if (!isObjectOf(raw, isStringArray)) return raw;
      return toNullIfEmpty(mapValues(raw, (list) => stringsOf(list).map(normalizeName)));
    }),
    Rule('invalid_type', 'must be an object of arrays of strings', (value) =>
      isObjectOf(value, isStringArray),
    ),
    NoInvisibleCharacters(loginNamesOf),
    Rule(
      'invalid_format',
      'must contain methods of 1 to 32 characters (a-z, 0-9, _ and -) and names without control characters',
      (value) =>
        keysOf(value).every((method) => METHOD_NAME.test(method)) &&
        loginNamesOf(value).every((name) => isCleanText(name)),
    ),
    Rule(
      'too_long',
      `must contain at most ${MAX_ITEMS.methods} methods. Each method may have at most ${MAX_ITEMS.namesOfMethod} names, and each name at most ${MAX.authname} characters`,
      (value) =>
        keysOf(value).length <= MAX_ITEMS.methods &&
        valuesOf(value).every((list) => stringsOf(list).length <= MAX_ITEMS.namesOfMethod) &&
        loginNamesOf(value).every((name) => isWithin(name, MAX.authname)),
    ),
    Rule(
      'invalid_value',
      'must not contain an empty name or the same name twice in one method',
      (value) =>
        loginNamesOf(value).every((name) => name !== '') &&
        valuesOf(value).every((list) => new Set(stringsOf(list)).size === stringsOf(list).length),
    ),
  );

const findUnknownNetworks = (value: unknown): string[] =>
  keysOf(value).filter((network) => !NETWORKS.some((known) => known === network));
const normalizeLink = (url: unknown): unknown => normalizeUrlInput(normalizeLineInput(url)) ?? '';
const isUrlOrEmpty = (url: string): boolean => url === '' || (isCleanText(url) && isHttpUrl(url));

/** Declares a field that maps each social network to a URL. `{}` clears the field. `""` or null removes one URL. */
export const SocialMediaLinks = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      nullable: true,
      properties: Object.fromEntries(NETWORKS.map((name) => [name, { type: 'string', maxLength: MAX.url }])),
      ...schema,
    }),
    LimitSize({ text: MAX.url }),
    Normalize((raw) => (isObject(raw) ? toNullIfEmpty(mapValues(raw, normalizeLink)) : raw)),
    Rule('invalid_type', 'must be an object of strings', (value) => isObjectOf(value, isString)),
    Rule(
      'unknown_field',
      (value) =>
        `must contain only ${NETWORKS.join(', ')}, not ${truncate(findUnknownNetworks(value).join(', '), 200)}`,
      (value) => findUnknownNetworks(value).length === 0,
    ),
    Rule('too_long', `must contain URLs of at most ${MAX.url} characters`, (value) =>
      stringsOf(valuesOf(value)).every((url) => isWithin(url, MAX.url)),
    ),
    NoInvisibleCharacters((value) => stringsOf(valuesOf(value))),
    Rule('invalid_format', 'must contain http or https URLs with a host and without credentials', (value) =>
      stringsOf(valuesOf(value)).every(isUrlOrEmpty),
    ),
  );
