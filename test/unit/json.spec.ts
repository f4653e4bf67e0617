import { expect, test } from '@jest/globals';
import { findJsonExcess } from '../../src/platform/common/json.js';

const ROOMY = { depth: 100, values: 1000, names: 100 };
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
])('the JSON text %s has the depth %d', (text, depth) => {
  expect(findJsonExcess(text, { ...ROOMY, depth })).toBeUndefined();
  if (depth > 0) expect(findJsonExcess(text, { ...ROOMY, depth: depth - 1 })).toBe('depth');
});

test.each([
  ['1', 1],
  ['{}', 2],
  ['{"a":1,"b":[1,2]}', 5],
  ['[",,,,[[["]', 2],
  ['{"a":1,"a":1,"a":1}', 4],
])('the JSON text %s counts as %d values', (text, values) => {
  expect(findJsonExcess(text, { ...ROOMY, values })).toBeUndefined();
  if (values > 1) expect(findJsonExcess(text, { ...ROOMY, values: values - 1 })).toBe('values');
});

test.each([
  ['{"a":1,"a":{"a":":"}}', 1],
  ['{"a":1,"\\":": {"b\\"" :[1]}}', 3],
])('the JSON text %s has %d different names', (text, names) => {
  expect(findJsonExcess(text, { ...ROOMY, names })).toBeUndefined();
  expect(findJsonExcess(text, { ...ROOMY, names: names - 1 })).toBe('names');
});

test('the JSON check of a large text stops at the limit', () => {
  expect(findJsonExcess('['.repeat(1_000_000), ROOMY)).toBe('depth');
  expect(findJsonExcess('{},'.repeat(300_000), ROOMY)).toBe('values');
});
