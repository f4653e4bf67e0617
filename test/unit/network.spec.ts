import { expect, test } from '@jest/globals';
import { toNetwork } from '../../src/platform/http/request-headers.js';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:203.0.113.7', '1:2:3:4::/64'],
  ['', ''],
])('the IP address %j belongs to the network %j', (ip, network) => {
  expect(toNetwork(ip)).toBe(network);
});
