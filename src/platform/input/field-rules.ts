import { IsDefined, ValidateBy } from 'class-validator';
import { ApiProperty } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import type { FieldCode } from '../common/errors.js';
import {
  codePointOf,
  deceptiveIn,
  invisibleIn,
  isCleanText,
  normalise,
  normaliseLine,
} from '../common/text.js';
import { type JsonObject, isObject } from '../common/json.js';

/** Converts a raw value to the form that is validated and stored. */
export type Form = (raw: unknown) => unknown;

const forms = new WeakMap<object, Map<string, Form>>();

/** Normalizes a field before its rules run. If a field has several, only the last one applies. */
export function Normalise(form: Form): PropertyDecorator {
  return (prototype, property) => {
    const own = forms.get(prototype) ?? new Map<string, Form>();
    forms.set(prototype, own.set(String(property), form));
  };
}

/** Returns the normalizer of a field, which may be inherited. */
export function formOf(input: object, field: string): Form | undefined {
  for (let at: object | null = input; at; at = Reflect.getPrototypeOf(at)) {
    const form = forms.get(at)?.get(field);
    if (form) return form;
  }
  return undefined;
}

/** An error text that follows the name of the field. A function computes it from the value. */
type Message = string | ((value: unknown) => string);

/**
 * Declares a custom rule for a field.
 * @param code error code in the response. If several rules of a field fail, only the first code in the order of
 * `FIELD_CODES` is reported.
 * @param test returns true for a valid value. Not called for a missing or cleared field.
 */
export function Rule(
  code: FieldCode,
  message: Message,
  test: (value: unknown) => boolean,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: test,
      defaultMessage: (args) => (typeof message === 'string' ? message : message(args?.value)),
    },
  });
}

/** Declares a custom rule for text. Other types pass, because `IsString` rejects them. */
export function TextRule(
  code: FieldCode,
  message: string,
  test: (text: string) => boolean,
): PropertyDecorator {
  return Rule(code, message, (value) => typeof value !== 'string' || test(value));
}

/** Declares a required field. Also makes an inherited optional field required. */
export const Required = () => applyDecorators(IsDefined(), ApiProperty({ required: true }));

/** Rejects control characters and invalid Unicode. */
export const Clean = (options: { newlines?: boolean } = {}) =>
  TextRule('invalid_format', 'must not contain control characters or invalid Unicode', (text) =>
    isCleanText(text, options),
  );

/** Rejects values in which `find` finds an invisible character. */
const Seen = (find: (value: unknown) => string | undefined) =>
  Rule(
    'invisible_character',
    (value) => `must not contain the invisible character ${codePointOf(find(value) ?? '')}`,
    (value) => find(value) === undefined,
  );

const textIn = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
const firstIn = (texts: readonly string[], find: typeof invisibleIn): string | undefined =>
  texts.map(find).find((found) => found !== undefined);

/** Rejects invisible characters in names and identifiers. @param textsOf returns the texts of a value, by default the value. */
export const Visible = (textsOf = textIn) => Seen((value) => firstIn(textsOf(value), invisibleIn));
/** Rejects characters in running text that change its reading order or hide a message. */
export const Honest = () => Seen((value) => firstIn(textIn(value), deceptiveIn));

const clearable = (form: (text: string) => string) => (raw: unknown) =>
  typeof raw === 'string' && raw.isWellFormed() ? form(raw) || null : raw;

/** Normalizes single-line text: NFC, trimmed, runs of spaces collapsed. Empty text clears the field. */
export const line = clearable(normaliseLine);
/** Normalizes multi-line text: NFC and trimmed. Empty text clears the field. */
export const trimmed = clearable(normalise);

/** Maximum size of the value of a field. */
export interface Size {
  /** Maximum characters of a text, and of each text in a list or an object. */
  text: number;
  /** Maximum items of a list. */
  items: number;
  /** Maximum members of an object. */
  members: number;
}

/** Default limits. */
const USUAL: Size = { text: 4096, items: 100, members: 32 };

/**
 * Maximum UTF-16 code units that NFC combines into one character: four code points of one unit, or two code points of two
 * units.
 */
const UNITS = 4;

const sizes = new WeakMap<object, Map<string, Partial<Size>>>();

/** Declares size limits that class-validator has no decorator for, such as limits inside an object. */
export function Sized(size: Partial<Size>): PropertyDecorator {
  return (prototype, property) => {
    const own = sizes.get(prototype) ?? new Map<string, Partial<Size>>();
    sizes.set(prototype, own.set(String(property), size));
  };
}

/** Returns the size limits of a field, which may be inherited. @param limits limits from decorators of class-validator. */
export function sizeOf(input: object, field: string, limits: Partial<Size> = {}): Size {
  for (let at: object | null = input; at; at = Reflect.getPrototypeOf(at)) {
    const own = sizes.get(at)?.get(field);
    if (own) return { ...USUAL, ...limits, ...own };
  }
  return { ...USUAL, ...limits };
}

/**
 * Truncates a value that exceeds its size even after normalization. The result is small but still over the limits, so the
 * rules of the field reject it. Returns other values unchanged.
 */
export function fitted(value: unknown, size: Size): unknown {
  if (typeof value === 'string') {
    const most = UNITS * size.text;
    return value.length <= most ? value : value.slice(0, most + 1);
  }
  if (Array.isArray(value)) return fittedItems(value, size);
  return isObject(value) ? fittedMembers(value, size) : value;
}

function fittedItems(items: readonly unknown[], size: Size): readonly unknown[] {
  const few = items.length <= size.items ? items : items.slice(0, size.items + 1);
  const cut = few.map((item) => fitted(item, size));
  return few === items && cut.every((item, at) => item === items[at]) ? items : cut;
}

function fittedMembers(object: JsonObject, size: Size): JsonObject {
  const names = Object.keys(object);
  const few = names.length <= size.members ? names : names.slice(0, size.members + 1);
  const cut = few.map((name) => [name, fitted(object[name], size)] as const);
  const same = few === names && cut.every(([name, member]) => member === object[name]);
  return same ? object : Object.fromEntries(cut);
}
