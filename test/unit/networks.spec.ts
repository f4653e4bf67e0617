import { describe, expect, test } from '@jest/globals';
import { areNetworksWithin, normalizeNetwork, isInNetworks } from '../../src/access/networks.js';

describe('a network', () => {
  test.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1/128'],
    ['::/0', '::/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['::ffff:c000:207/128', '192.0.2.7/32'],
  ])('%s has the canonical form %s', (text, canonical) => {
    expect(normalizeNetwork(text)).toBe(canonical);
    expect(normalizeNetwork(canonical)).toBe(canonical);
  });

  test.each([
    ['', 'empty text'],
    ['10.0.0.0/', 'missing prefix'],
    ['10.0.0.0/33', 'prefix too long'],
    ['::/129', 'prefix too long'],
    ['10.0.0.0/8/8', 'two prefixes'],
    ['10.1.2.3/8', 'bits set after the prefix'],
    ['192.0.2.1/31', 'bit set after the prefix'],
    ['::ffff:0.0.0.0/90', 'prefix within the IPv4 mapping'],
    ['010.0.0.1', 'octal part'],
    [' 10.0.0.0/8', 'leading space'],
    ['10.0.0.0/8\n', 'final line ending'],
    ['fe80::1%eth0', 'interface name'],
    ['[::1]', 'brackets'],
  ])('%j is refused: %s', (text) => {
    expect(normalizeNetwork(text)).toBeUndefined();
  });
});

describe('the IP address', () => {
  const NETWORKS = ['10.0.0.0/8', '192.0.2.128/25', '2001:db8::/33'];
  test.each([
    ['10.0.0.0', 'inside'],
    ['::ffff:10.1.2.3', 'inside'],
    ['192.0.2.128', 'inside'],
    ['192.0.2.127', 'outside'],
    ['2001:db8:7fff:ffff::1', 'inside'],
    ['2001:DB8::1%eth0', 'inside'],
    ['2001:db8:8000::', 'outside'],
    ['::10.0.0.1', 'outside'],
    ['', 'outside'],
    ['10.0.0.1, 192.0.2.200', 'outside'],
  ])('%j is %s the allowed networks', (ip, side) => {
    expect(isInNetworks(ip, NETWORKS)).toBe(side === 'inside');
  });

  test('is outside every network of the other IP version', () => {
    for (const ip of ['10.0.0.1', '::ffff:10.0.0.1']) expect(isInNetworks(ip, ['::/0'])).toBe(false);
    expect(isInNetworks('::1', ['0.0.0.0/0'])).toBe(false);
  });
});

test.each<[string[], string[]]>([
  [['10.1.0.0/16'], ['10.0.0.0/8']],
  [['10.0.0.0/8'], ['10.0.0.0/8']],
  [['192.0.2.1/32'], ['10.0.0.0/8', '192.0.2.0/24']],
  [[], ['10.0.0.0/8']],
])('the networks %j are within the networks %j', (inner, outer) => {
  expect(areNetworksWithin(inner, outer)).toBe(true);
});

test.each<[string[], string[]]>([
  [['10.0.0.0/7'], ['10.0.0.0/8']],
  [['0.0.0.0/0'], ['10.0.0.0/8']],
  [['10.1.0.0/16', '192.0.2.1/32'], ['10.0.0.0/8']],
  [['::/0'], ['0.0.0.0/0']],
  [['0.0.0.0/0'], ['::/0']],
])('the networks %j are not within the networks %j', (inner, outer) => {
  expect(areNetworksWithin(inner, outer)).toBe(false);
});
