import { Allow, IsDefined, ValidateBy, type ValidationArguments } from 'class-validator';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import type { FieldCode } from '../common/errors.js';
import {
  formatCodePoint,
  findDeceptive,
  findInvisible,
  isCleanText,
  normalizeText,
  normalizeLine,
} from '../common/text.js';
import { type JsonObject, isObject } from '../common/json.js';

/** Converts a raw value to the form that is validated and stored. */
export type Normalizer = (raw: unknown) => unknown;

const NORMALIZER = Symbol('normalizer');

/** Normalizes a field before its rules run. If a field has several normalizers, only the last one applies. */
export const Normalize = (form: Normalizer): PropertyDecorator => Reflect.metadata(NORMALIZER, form);

export const findNormalizer = (input: object, field: string) =>
  Reflect.getMetadata(NORMALIZER, input, field) as Normalizer | undefined;

/** An error text, or a function that creates it from the value. The name of the field is put before the text. */
type Message = string | ((value: unknown) => string);

/**
 * Declares a custom rule for a field.
 * @param code error code in the response. If several rules of a field fail, only the first code in the order of
 * `FIELD_CODES` is reported.
 * @param test returns true for a valid value. Not called for a missing or cleared field.
 */
export function Rule(code: FieldCode, message: Message, test: (value: unknown) => boolean) {
  const toMessage = (value: unknown) => (typeof message === 'string' ? message : message(value));
  const validator = {
    validate: test,
    defaultMessage: (args?: ValidationArguments) => toMessage(args?.value),
  };
  return ValidateBy({ name: code, validator });
}

/** Declares a custom rule for text. Values of other types pass, because `IsString` rejects them. */
export function TextRule(code: FieldCode, message: string, test: (text: string) => boolean) {
  return Rule(code, message, (value) => typeof value !== 'string' || test(value));
}

/** Declares a required field. Also makes an inherited optional field required. */
export const Required = () => applyDecorators(IsDefined(), ApiProperty({ required: true }));

/** Declares a read-only field, which clients may send back as they have read it. */
export const ReadOnly = (type: ApiPropertyOptions, more: { nullable?: boolean; description?: string }) =>
  applyDecorators(ApiPropertyOptional({ ...type, readOnly: true, ...more }), Allow());

/** Rejects control characters and invalid Unicode. Allows line breaks if `newlines` is true. */
export const NoControlCharacters = (options: { newlines?: boolean } = {}) =>
  TextRule('invalid_format', 'must not contain control characters or invalid Unicode', (text) =>
    isCleanText(text, options),
  );

const NoForbiddenCharacter = (find: (value: unknown) => string | undefined) =>
  Rule(
    'invisible_character',
    (value) => `must not contain the invisible character ${formatCodePoint(find(value) ?? '')}`,
    (value) => find(value) === undefined,
  );

const toTexts = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
const findInTexts = (texts: readonly string[], find: typeof findInvisible): string | undefined =>
  texts.map(find).find((found) => found !== undefined);

/**
 * Rejects invisible characters in names and identifiers.
 * @param textsOf returns the texts to check in a value. By default, this is the value itself.
 */
export const NoInvisibleCharacters = (textsOf = toTexts) =>
  NoForbiddenCharacter((value) => findInTexts(textsOf(value), findInvisible));
/** Rejects characters in running text that change its reading order or hide a message. */
export const NoDeceptiveCharacters = () =>
  NoForbiddenCharacter((value) => findInTexts(toTexts(value), findDeceptive));

const createTextNormalizer = (form: (text: string) => string) => (raw: unknown) =>
  typeof raw === 'string' && raw.isWellFormed() ? form(raw) || null : raw;

/** Normalizes single-line text: NFC, trimmed, repeated spaces reduced to one. Empty text clears the field. */
export const normalizeLineInput = createTextNormalizer(normalizeLine);
/** Normalizes multi-line text: NFC and trimmed. Empty text clears the field. */
export const normalizeTextInput = createTextNormalizer(normalizeText);

export interface SizeLimits {
  /** Maximum characters of a text, and of each text in a list or an object. */
  text: number;
  items: number;
  members: number;
}

const DEFAULT_SIZE: SizeLimits = { text: 4096, items: 100, members: 32 };

/** Maximum number of UTF-16 code units that NFC combines into one character. */
const UNITS_PER_CHARACTER = 4;

const SIZE = Symbol('size');

/** Declares size limits for which class-validator lacks a decorator, such as limits inside an object. */
export const LimitSize = (size: Partial<SizeLimits>): PropertyDecorator => Reflect.metadata(SIZE, size);

/** Returns the size limits of a field, which may be inherited. @param limits limits from decorators of class-validator. */
export function getSizeLimits(input: object, field: string, limits: Partial<SizeLimits> = {}): SizeLimits {
  const own = Reflect.getMetadata(SIZE, input, field) as Partial<SizeLimits> | undefined;
  return { ...DEFAULT_SIZE, ...limits, ...own };
}

/**
 * Truncates a value that would exceed its size limits even after normalization. The truncated value is still larger
 * than the limits, so the rules of the field reject it. Returns any other value unchanged.
 */
export function truncateToSize(value: unknown, size: SizeLimits): unknown {
  if (typeof value === 'string') {
    const most = UNITS_PER_CHARACTER * size.text;
    return value.length <= most ? value : value.slice(0, most + 1);
  }
  if (Array.isArray(value)) return truncateItems(value, size);
  return isObject(value) ? truncateMembers(value, size) : value;
}

function truncateItems(items: readonly unknown[], size: SizeLimits): readonly unknown[] {
  const few = items.length <= size.items ? items : items.slice(0, size.items + 1);
  const cut = few.map((item) => truncateToSize(item, size));
  return few === items && cut.every((item, at) => item === items[at]) ? items : cut;
}

function truncateMembers(object: JsonObject, size: SizeLimits): JsonObject {
  const names = Object.keys(object);
  const few = names.length <= size.members ? names : names.slice(0, size.members + 1);
  const cut = few.map((name) => [name, truncateToSize(object[name], size)] as const);
  const same = few === names && cut.every(([name, member]) => member === object[name]);
  return same ? object : Object.fromEntries(cut);
}
