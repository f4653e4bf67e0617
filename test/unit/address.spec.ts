import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isIP } from 'node:net';
import { normalizeAddress } from '../../src/platform/http/request-headers.js';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:CB00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['2001:0DB8:0:0:1:2:3:4', '2001:db8::1:2:3:4'],
  ['2001:db8:0:0:0:0:0:0', '2001:db8::'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['203.0.113.7:54321', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
])('the IP address %s is normalized to %s', (text, address) => {
  expect(normalizeAddress(text)).toBe(address);
});

test.each([
  '',
  'unknown',
  '203.0.113.256',
  '0x7f.1',
  '203.0.113.7:x',
  '203.0.113.7,',
  '[203.0.113.7]:80',
  '[2001:db8::1]',
  '2001:db8::1::2',
  '203.0.113.7\n',
  '%eth0',
])('the text %j is rejected as an IP address', (text) => {
  expect(normalizeAddress(text)).toBeUndefined();
});

test('random text is normalized to a canonical IP address or rejected', () => {
  const parts = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const spelled = parts.map((numbers) => numbers.map((each) => each.toString(16)).join(':'));
  const mapped = fc.ipV4().map((address) => `::ffff:${address}`);
  const text = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), spelled, mapped);
  fc.assert(
    fc.property(text, (sent) => {
      const address = normalizeAddress(sent);
      if (address === undefined) return;
      expect(isIP(address)).not.toBe(0);
      expect(address).not.toMatch(/[A-Z%]|^::ffff:\d+\./);
      expect(normalizeAddress(address)).toBe(address);
      expect(normalizeAddress(address.toUpperCase())).toBe(address);
    }),
    { numRuns: 2000 },
  );
});
