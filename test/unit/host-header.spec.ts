import { expect, test } from '@jest/globals';
import { findHostError } from '../../src/platform/http/request-headers.js';
import { isLinear } from '../support/data/growth.js';

const faultOf = (host: string | undefined, httpVersion = '1.1') =>
  findHostError({ headers: host === undefined ? {} : { host }, httpVersion });

test.each([
  '',
  'Example.ORG:443',
  'example.org:',
  '[::1]',
  '[2001:DB8::1]:8080',
  '[::ffff:192.0.2.1]',
  '[v7.a:b]',
  'b%C3%BCcher.example',
])('the Host header %j is valid', (host) => {
  expect(faultOf(host)).toBeUndefined();
  expect(faultOf(host, '1.0')).toBeUndefined();
});

const NO_HOST = expect.stringContaining('Send it once') as unknown;

test.each([
  'é',
  'a%2',
  ':80',
  'a:123456',
  'a:-1',
  '::1',
  '::1]',
  '[::g]',
  '[fe80::1%25eth0]',
  '[v7.]',
  '[::1]a',
])('the Host header %j is invalid', (host) => {
  expect(faultOf(host)).toEqual(NO_HOST);
  expect(faultOf(host, '1.0')).toEqual(NO_HOST);
});

test('a Host header allows the RFC 3986 characters except the comma', () => {
  for (let code = 0; code < 128; code++) {
    const host = `a${String.fromCharCode(code)}b`;
    const isHost = /^a[a-z0-9._~!$&'()*+;=-]b$/i.test(host);
    expect([host, faultOf(host)]).toEqual([host, isHost ? undefined : NO_HOST]);
  }
});

test('only HTTP/1.1 requires a Host header', () => {
  expect(faultOf(undefined, '1.0')).toBeUndefined();
  expect(faultOf(undefined)).toMatch('missing');
});

test.each([
  ['escapes', (length: number) => `${'a%20'.repeat(length / 4)} `],
  ['colons', (length: number) => `[${':'.repeat(length)}`],
])('a long Host header of %s is refused in linear time', (_, create) => {
  expect(faultOf(create(16_000))).toEqual(NO_HOST);
  const createCheck = (length: number) => {
    const host = create(length);
    return () => faultOf(host);
  };
  expect(isLinear(64_000, createCheck)).toBe(true);
});
