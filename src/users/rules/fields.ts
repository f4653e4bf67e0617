import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsBoolean, IsIn, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { isObject } from '../../platform/common/json.js';
import {
  caseFold,
  isCleanText,
  isWithin,
  normalForm,
  normalise,
  truncated,
} from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import {
  Clean,
  Honest,
  Normalise,
  Rule,
  Sized,
  TextRule,
  Visible,
  line,
  trimmed,
} from '../../platform/input/field-rules.js';
import {
  MAX,
  MOST,
  NETWORKS,
  STATUSES,
  isEmailAddress,
  isHttpUrl,
  localPart,
  parsedUrl,
} from '../model/formats.js';

/** Kinds of fields of a user: one decorator carries the form, the rules and the schema, so that a limit is written once. */
interface Schema {
  description?: string;
  example: unknown;
  minLength?: number;
  nullable?: boolean;
  writeOnly?: boolean;
}

/** Text of at most `max` characters. */
type TextSchema = Schema & { max: number };
const Text = ({ max, ...schema }: TextSchema) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: max, ...schema }),
    Normalise(trimmed),
    IsString(),
    MaxLength(max),
  );

/** One line of text, which may be cleared. */
export const Line = (schema: TextSchema) =>
  applyDecorators(Text({ nullable: true, ...schema }), Clean(), Visible());

export const Paragraphs = (schema: TextSchema) =>
  applyDecorators(Text({ nullable: true, ...schema }), Clean({ newlines: true }), Honest());

const URL_RULE = 'must be an http or https URL with a host and without credentials';
const urlForm = (value: unknown): unknown => (typeof value === 'string' ? parsedUrl(value) : value);

export const Url = (schema: Schema) =>
  applyDecorators(
    Line({ max: MAX.url, ...schema }),
    Normalise((raw) => urlForm(trimmed(raw))),
    TextRule('invalid_format', URL_RULE, isHttpUrl),
  );

/** A password: any characters, never trimmed. */
export const Secret = (schema: Schema) =>
  applyDecorators(
    Text({ max: MAX.password, writeOnly: true, ...schema }),
    Normalise((raw) =>
      typeof raw === 'string' && raw.isWellFormed() ? normalForm(raw, 'NFC') || null : raw,
    ),
    TextRule('invalid_format', 'may not hold broken Unicode', (text) => text.isWellFormed()),
  );

/** A password to be set; `NewPasswords` has its rules, which need settings and the user. */
export const NewSecret = (schema: Schema & { minLength: number }) => Secret({ nullable: true, ...schema });

/** The one text whose inner runs of spaces collapse. */
export const Username = (schema: Schema) =>
  applyDecorators(Text({ max: MAX.username, ...schema }), Clean(), Visible(), Normalise(line), IsNotEmpty());

export const Email = (schema: Schema) =>
  applyDecorators(
    Text({ max: MAX.email, ...schema }),
    Clean(),
    Visible(),
    IsNotEmpty(),
    TextRule('invalid_format', 'must be an e-mail address', isEmailAddress),
    TextRule('too_long', `may have at most ${MAX.localPart} characters before the @`, (text) =>
      isWithin(localPart(text), MAX.localPart),
    ),
  );

/** More than the values of a short form have. */
const SHORT = 64;

export const Status = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({ enum: STATUSES, ...schema }),
    Sized({ text: SHORT }),
    Normalise(line),
    IsNotEmpty(),
    IsString(),
    IsIn(STATUSES, { message: `must be ${STATUSES.join(' or ')}` }),
  );

export const Flag = (schema: Schema) =>
  applyDecorators(ApiPropertyOptional({ type: Boolean, nullable: true, ...schema }), IsBoolean());

export const Reference = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, ...schema }),
    Sized({ text: SHORT }),
    Normalise((raw) => (typeof raw === 'string' ? line(raw.toLowerCase()) : raw)),
    IsString(),
    TextRule('invalid_format', 'must be a UUID', isUuid),
  );

const isString = (value: unknown): value is string => typeof value === 'string';
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isString) : []);
const values = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : []);
const keys = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);
const orNull = (object: object): object | null => (Object.keys(object).length === 0 ? null : object);

/** `[]` clears. Unknown names stay as they are, so that the error quotes them. */
export const Roles = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      items: { type: 'string', maxLength: MAX.role },
      maxItems: MOST.roles,
      nullable: true,
      ...schema,
    }),
    Sized({ text: MAX.role }),
    Normalise((raw) => (isStrings(raw) ? orNull(raw.map((role) => line(role) ?? '')) : raw)),
    IsString({ each: true, message: 'must be an array of strings' }),
    ArrayMaxSize(MOST.roles, { message: `may hold at most ${MOST.roles} roles` }),
    ArrayUnique((role: unknown) => (isString(role) ? caseFold(role) : role), {
      message: 'may not name a role twice',
    }),
  );

const METHOD = /^[a-z0-9_-]{1,32}$/;
const names = (value: unknown): string[] => values(value).flatMap(strings);
const normaliseName = (name: string): string => (name.isWellFormed() ? normalise(name) : name);

/** Method → names; `{}` clears. */
export const Authnames = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      nullable: true,
      maxProperties: MOST.methods,
      additionalProperties: {
        type: 'array',
        items: { type: 'string', maxLength: MAX.authname },
        maxItems: MOST.namesOfMethod,
      },
      ...schema,
    }),
    Sized({ text: MAX.authname, items: MOST.namesOfMethod, members: MOST.methods }),
    Normalise((raw) => {
      if (!isObject(raw) || !values(raw).every(isStrings)) return raw;
      return orNull(
        Object.fromEntries(
          Object.entries(raw).map(([method, list]) => [method, strings(list).map(normaliseName)]),
        ),
      );
    }),
    Rule(
      'invalid_type',
      'must be an object of arrays of strings',
      (value) => isObject(value) && values(value).every(isStrings),
    ),
    Visible(names),
    Rule(
      'invalid_format',
      'must hold methods of 1 to 32 of a-z, 0-9, _ and -, and names without control characters',
      (value) =>
        keys(value).every((method) => METHOD.test(method)) && names(value).every((name) => isCleanText(name)),
    ),
    Rule(
      'too_long',
      `may hold at most ${MOST.methods} methods of ${MOST.namesOfMethod} names of ${MAX.authname} characters`,
      (value) =>
        keys(value).length <= MOST.methods &&
        values(value).every((list) => strings(list).length <= MOST.namesOfMethod) &&
        names(value).every((name) => isWithin(name, MAX.authname)),
    ),
    Rule(
      'invalid_value',
      'may not hold an empty name or a name twice in one method',
      (value) =>
        names(value).every((name) => name !== '') &&
        values(value).every((list) => new Set(strings(list)).size === strings(list).length),
    ),
  );

const unknownNetworks = (value: unknown): string[] =>
  keys(value).filter((network) => !NETWORKS.some((known) => known === network));
const isUrl = (url: string): boolean => url === '' || (isCleanText(url) && isHttpUrl(url));

/** Network → URL; `{}` clears, and empty text or null inside removes one network. */
export const SocialMediaLinks = (schema: Schema) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'object',
      nullable: true,
      properties: Object.fromEntries(
        NETWORKS.map((network) => [network, { type: 'string', maxLength: MAX.url }]),
      ),
      ...schema,
    }),
    Sized({ text: MAX.url }),
    Normalise((raw) => {
      if (!isObject(raw)) return raw;
      return orNull(
        Object.fromEntries(Object.entries(raw).map(([network, url]) => [network, urlForm(line(url)) ?? ''])),
      );
    }),
    Rule(
      'invalid_type',
      'must be an object of strings',
      (value) => isObject(value) && values(value).every(isString),
    ),
    Rule(
      'unknown_field',
      (value) =>
        `may hold only ${NETWORKS.join(', ')}, not ${truncated(unknownNetworks(value).join(', '), 200)}`,
      (value) => unknownNetworks(value).length === 0,
    ),
    Rule('too_long', `may hold URLs of at most ${MAX.url} characters`, (value) =>
      strings(values(value)).every((url) => isWithin(url, MAX.url)),
    ),
    Visible((value) => strings(values(value))),
    Rule('invalid_format', 'must hold http or https URLs with a host and without credentials', (value) =>
      strings(values(value)).every(isUrl),
    ),
  );
