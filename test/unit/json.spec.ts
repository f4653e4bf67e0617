import { expect, test } from '@jest/globals';
import { jsonExcess } from '../../src/platform/common/json.js';

const ROOMY = { depth: 100, values: 1000 };
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
  expect(jsonExcess(text, { ...ROOMY, depth })).toBeUndefined();
  if (depth > 0) expect(jsonExcess(text, { ...ROOMY, depth: depth - 1 })).toBe('depth');
});

test.each([
  ['1', 1],
  ['{}', 2],
  ['{"a":1,"b":[1,2]}', 5],
  ['[",,,,[[["]', 2],
  ['{"a":1,"a":1,"a":1}', 4],
])('%s counts as %d values', (text, values) => {
  expect(jsonExcess(text, { ...ROOMY, values })).toBeUndefined();
  if (values > 1) expect(jsonExcess(text, { ...ROOMY, values: values - 1 })).toBe('values');
});

test('a megabyte of brackets or members is left at the limit', () => {
  expect(jsonExcess('['.repeat(1_000_000), ROOMY)).toBe('depth');
  expect(jsonExcess('{},'.repeat(300_000), ROOMY)).toBe('values');
});
