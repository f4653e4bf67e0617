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

/** Turns what was sent into the form that the rules check and the service stores. */
export type Form = (raw: unknown) => unknown;

const forms = new WeakMap<object, Map<string, Form>>();

/** Normalises a field before its rules run. The last of several on one field counts. */
export function Normalise(form: Form): PropertyDecorator {
  return (prototype, property) => {
    const own = forms.get(prototype) ?? new Map<string, Form>();
    forms.set(prototype, own.set(String(property), form));
  };
}

/** The form of a field of an input class, inherited ones included. */
export function formOf(input: object, field: string): Form | undefined {
  for (let at: object | null = input; at; at = Reflect.getPrototypeOf(at)) {
    const form = forms.get(at)?.get(field);
    if (form) return form;
  }
  return undefined;
}

/** Completes "<field> …". Computed from the value where it quotes a part of it. */
type Message = string | ((value: unknown) => string);

/**
 * A rule of our own, where class-validator has none that says the same.
 * @param code its code in the error answer. Several broken rules of one field are one error: that of the first code in
 * the order of `FIELD_CODES`.
 * @param test is not called for a field that was not sent or is cleared.
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

/** As `Rule`, for text only: `IsString` refuses every other type. */
export function TextRule(
  code: FieldCode,
  message: string,
  test: (text: string) => boolean,
): PropertyDecorator {
  return Rule(code, message, (value) => typeof value !== 'string' || test(value));
}

/** The field must be sent. Also makes an inherited optional field required. */
export const Required = () => applyDecorators(IsDefined(), ApiProperty({ required: true }));

export const Clean = (options: { newlines?: boolean } = {}) =>
  TextRule('invalid_format', 'may not hold control characters or broken Unicode', (text) =>
    isCleanText(text, options),
  );

/** No character that deceives a reader. @param find the first one of a value. */
const Seen = (find: (value: unknown) => string | undefined) =>
  Rule(
    'invisible_character',
    (value) => `may not hold the character ${codePointOf(find(value) ?? '')}, which nobody sees`,
    (value) => find(value) === undefined,
  );

const textIn = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
const firstIn = (texts: readonly string[], find: typeof invisibleIn): string | undefined =>
  texts.map(find).find((found) => found !== undefined);

/** Names or identifiers, of which a reader sees every character. @param textsOf those of a value; itself by default. */
export const Visible = (textsOf = textIn) => Seen((value) => firstIn(textsOf(value), invisibleIn));
/** Running text, whose characters neither change its order nor hide a message. */
export const Honest = () => Seen((value) => firstIn(textIn(value), deceptiveIn));

const clearable = (form: (text: string) => string) => (raw: unknown) =>
  typeof raw === 'string' && raw.isWellFormed() ? form(raw) || null : raw;

/** One line of text: NFC, trimmed, each run of spaces one space; empty text clears the field. */
export const line = clearable(normaliseLine);
/** Text as it is, NFC and trimmed; empty text clears the field. */
export const trimmed = clearable(normalise);

/** The most that a value of a field may hold. */
export interface Size {
  /** Characters of a text, and of each text in a list or an object. */
  text: number;
  items: number;
  members: number;
}

/** Of a field that names no limit. More than the headers of a request hold, so that a query parameter is never cut. */
const USUAL: Size = { text: 4096, items: 100, members: 32 };

/**
 * UTF-16 units that one character of the normal form may come from: NFC joins up to four code points of one unit, or two of
 * two units, and runs of spaces collapse.
 */
const UNITS = 4;

const sizes = new WeakMap<object, Map<string, Partial<Size>>>();

/** States limits of a field that no decorator of class-validator has: those inside an object. */
export function Sized(size: Partial<Size>): PropertyDecorator {
  return (prototype, property) => {
    const own = sizes.get(prototype) ?? new Map<string, Partial<Size>>();
    sizes.set(prototype, own.set(String(property), size));
  };
}

/** The size of a field of an input class, inherited ones included. @param limits those of its other decorators. */
export function sizeOf(input: object, field: string, limits: Partial<Size> = {}): Size {
  for (let at: object | null = input; at; at = Reflect.getPrototypeOf(at)) {
    const own = sizes.get(at)?.get(field);
    if (own) return { ...USUAL, ...limits, ...own };
  }
  return { ...USUAL, ...limits };
}

/**
 * The value itself where it may be within its size, whatever its normal form is. Otherwise what is left of it when it is
 * cut: small, and still over its limits, so that the rules of the field refuse it.
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
