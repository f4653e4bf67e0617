import { expect, test } from '@jest/globals';
import { ArrayMaxSize, IsString, MaxLength } from 'class-validator';
import { ApiKeyInput } from '../../src/api-keys/api-key.input.js';
import { MAX_ERRORS } from '../../src/platform/common/errors.js';
import { type InputClass, fieldsOf } from '../../src/platform/common/fields.js';
import { readInput } from '../../src/platform/input/read-input.js';
import { Normalize } from '../../src/platform/input/field-rules.js';
import { LoginInput } from '../../src/sessions/login.input.js';
import { ChangedUserInput, NewUserInput } from '../../src/users/rules/user.input.js';
import { service } from '../support/jest/native.js';

/** The limits of a field bound the cost of any value before its refusal (interface §9). */
const seen: unknown[] = [];
class Small {
  @Normalize((raw) => (seen.push(raw), raw))
  @IsString()
  @MaxLength(10)
  text?: unknown;

  @Normalize((raw) => (seen.push(raw), raw))
  @ArrayMaxSize(3)
  @MaxLength(10, { each: true })
  list?: unknown;
}

const read = (raw: Record<string, unknown>) => {
  seen.length = 0;
  return readInput(Small, raw).errors.map(({ field, code }) => `${field} ${code}`);
};

test.each([
  ['normalizes a text that may shrink to ten characters', { text: 'x'.repeat(40) }, ['text too_long'], 1],
  ['refuses a text of 42 characters before normalization', { text: 'x'.repeat(42) }, ['text too_long'], 0],
  ['refuses a million blanks before normalization', { text: ' '.repeat(1_000_000) }, ['text too_long'], 0],
  ['normalizes a list of three texts', { list: ['a', 'b', 'c'] }, [], 1],
  ['refuses a list of four texts before normalization', { list: ['a', 'b', 'c', 'd'] }, ['list too_long'], 0],
  ['refuses a list with a long text before normalization', { list: ['x'.repeat(42)] }, ['list too_long'], 0],
])('readInput %s', (_, raw, errors, formed) => {
  expect(read(raw)).toEqual(errors);
  expect(seen).toHaveLength(formed);
});

/** Huge values of each JSON type. */
const HOSTILE: [string, (count: number) => unknown][] = [
  ['combining marks', (count) => `a${'\u0301\u0316'.repeat(count / 2)}`],
  ['letters with one mark each', (count) => 'e\u0301'.repeat(count / 2)],
  ['letters that grow by normalization', (count) => 'ﷺ'.repeat(count)],
  ['blanks', (count) => ' '.repeat(count)],
  ['a list of texts', (count) => Array.from({ length: count / 10 }, (_, i) => `é${i}`)],
  ['a list of lists', (count) => Array.from({ length: count / 10 }, () => ['é'])],
  ['one long text in a list', (count) => ['é'.repeat(count)]],
  ['properties', (count) => Object.fromEntries(Array.from({ length: count / 10 }, (_, i) => [`m${i}`, 'é']))],
  [
    'members with lists',
    (count) => Object.fromEntries(Array.from({ length: count / 10 }, (_, i) => [`m${i}`, ['é', 'è']])),
  ],
  ['a long text in a list in an object', (count) => ({ saml: ['é'.repeat(count)] })],
  ['a long list in an object', (count) => ({ saml: Array.from({ length: count / 10 }, (_, i) => `é${i}`) })],
];
const INPUTS: [string, InputClass<object>][] = [
  ['a new user', NewUserInput],
  ['a changed user', ChangedUserInput],
  ['a login', LoginInput],
  ['an API key', ApiKeyInput],
];

/** Returns the number of characters that string methods and regular expressions read. */
function countCharactersRead(work: () => void): number {
  let count = 0;
  const undo: (() => void)[] = [];
  const spy = (prototype: object, method: string, length: (self: unknown, text: unknown) => number): void => {
    const original: unknown = Reflect.get(prototype, method);
    if (typeof original !== 'function') throw new Error(`there is no ${method}`);
    undo.push(() => Reflect.set(prototype, method, original));
    Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]): unknown {
      count += length(this, args[0]);
      return Reflect.apply(original, this, args);
    });
  };
  for (const method of ['normalize', 'trim', 'toLowerCase', 'toUpperCase', 'replace']) {
    spy(service.String.prototype, method, (self) => String(self).length);
  }
  spy(service.RegExp.prototype, 'test', (_, text) => String(text).length);
  try {
    work();
  } finally {
    for (const restore of undo) restore();
  }
  return count;
}

const CASES = INPUTS.flatMap(([what, type]) =>
  HOSTILE.map(([kind, value]) => [what, kind, type, value] as const),
);
test.each(CASES)('reading %s with %s takes no more work for longer values', (...row) => {
  const [, , type, value] = row;
  const measure = (count: number): number => {
    const raw = Object.fromEntries([...fieldsOf(type)].map((field) => [field, value(count)]));
    return countCharactersRead(() => void readInput(type, raw));
  };
  expect(measure(120_000)).toBe(measure(60_000));
});

test('many unknown fields do not hide errors of known fields', () => {
  const unknown = Object.fromEntries(Array.from({ length: 85_000 }, (_, i) => [`key${i}`, 1]));
  const { errors } = readInput(LoginInput, { ...unknown, username: 5 });
  expect(errors).toHaveLength(MAX_ERRORS);
  expect(errors.slice(-2)).toMatchObject([
    { field: 'username', code: 'invalid_type' },
    { field: 'password', code: 'required' },
  ]);
});
