import { expect, test } from '@jest/globals';
import { isObject, jsonDepth } from '../../src/common/json.js';

test.each([
  ['1', 0],
  ['{}', 1],
  ['[]', 1],
  ['{"a":[{}]}', 3],
  ['[[],[[]],[]]', 3],
  ['"[[[["', 0],
  ['["[[[["]', 1],
  ['["\\"[[["]', 1],
  ['["\\\\",[[]]]', 3],
  [']]]][', 0],
  ['', 0],
])('the depth of %s is %d', (text, depth) => {
  expect(jsonDepth(text)).toBe(depth);
});

test('a megabyte of brackets is measured without recursion', () => {
  expect(jsonDepth('['.repeat(1_000_000))).toBe(1_000_000);
});

test.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['{}', false],
  [1, false],
])('%j is a JSON object: %s', (value, expected) => {
  expect(isObject(value)).toBe(expected);
});
