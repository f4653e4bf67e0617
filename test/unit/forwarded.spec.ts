import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { MAX_FORWARDED, truncateForwardedFor } from '../../src/platform/http/request-headers.js';

function boundList(list: string | undefined): unknown {
  const headers = { ...(list !== undefined && { 'x-forwarded-for': list }) };
  truncateForwardedFor({ headers } as Request);
  return (headers as Record<string, unknown>)['x-forwarded-for'];
}

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['one address', '192.0.2.1'],
  ['two addresses', '192.0.2.1, 198.51.100.7'],
  ['a header of the maximum length', 'x'.repeat(MAX_FORWARDED)],
])('X-Forwarded-For is left unchanged: %s', (_, list) => {
  expect(boundList(list)).toBe(list);
});

test.each([11, 22, 33, 77])('X-Forwarded-For with %d excess characters keeps its last addresses', (more) => {
  const own = Array.from({ length: MAX_FORWARDED / 10 }, (_, n) => `10.0.${n % 100}.${n % 10}`.padEnd(9));
  const list = ['203.0.113.9'.repeat(more / 11), ...own].join(',');
  const left = String(boundList(list)).split(',');
  expect(left.join(',').length).toBeLessThanOrEqual(MAX_FORWARDED);
  expect(left.length).toBeGreaterThan(own.length - 5);
  expect(own.slice(-left.length)).toEqual(left);
});
