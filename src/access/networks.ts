import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

interface Network {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  bits: number;
}

/** Length of the longest network, in characters. */
export const MAX_NETWORK_LENGTH = '0000:0000:0000:0000:0000:ffff:255.255.255.255/128'.length;
/** Number of bits before the IPv4 address in an IPv4-mapped address such as `::ffff:10.0.0.1`. */
const MAPPED_BITS = 96;

/**
 * Returns a network in its canonical form, such as `10.0.0.0/8` or `2001:db8::/32`. A single address becomes a network
 * with one address, and an IPv4-mapped address becomes IPv4.
 * @returns undefined for an invalid network, or for a network with host bits, such as `10.1.2.3/8`, which is ambiguous.
 */
export function normalizeNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && `${network.address.toString()}/${network.bits}`;
}

/** Returns true if the address or network `ip` is inside one of the networks. Returns false for an invalid address. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const host = parseNetwork(ip.replace(/%.*$/, '')); // a link-local address can end with the name of an interface, as in `fe80::1%eth0`
  return host !== undefined && networks.some((network) => containsNetwork(parseNetwork(network), host));
}

/** Returns true if each inner network lies inside one of the outer networks. Adjacent outer networks are not merged. */
export function areNetworksWithin(inner: readonly string[], outer: readonly string[]): boolean {
  return inner.every((network) => isInNetworks(network, outer));
}

function containsNetwork(outer: Network | undefined, inner: Network): boolean {
  if (!outer || outer.bits > inner.bits) return false;
  return clearHostBits(inner.address, outer.bits) === outer.address.toString();
}

function parseNetwork(text: string): Network | undefined {
  const [, ip = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(ip);
  if (!address) return undefined;
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
  const plain = isMapped ? address.toIPv4Address() : address;
  const all = plain.toByteArray().length * 8;
  const bits = prefix === undefined ? all : Number(prefix) - (isMapped ? MAPPED_BITS : 0);
  if (bits < 0 || bits > all) return undefined;
  return clearHostBits(plain, bits) === plain.toString() ? { address: plain, bits } : undefined;
}

/** Parses an address. Unlike ipaddr.js, rejects `127.1`, single numbers, and octal and hexadecimal parts. */
function parseAddress(ip: string): Network['address'] | undefined {
  const family = isIP(ip);
  if (family === 0 || ip.includes('%')) return undefined;
  // ipaddr.js does not support every IPv6 address that ends in dotted notation, so `URL` rewrites the address first.
  return family === 4
    ? ipaddr.IPv4.parse(ip)
    : ipaddr.IPv6.parse(new URL(`http://[${ip}]/`).hostname.slice(1, -1));
}

/** Returns the first address of the network of an address, in its canonical form. */
function clearHostBits(address: Network['address'], bits: number): string {
  const bytes = address
    .toByteArray()
    .map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, (index + 1) * 8 - bits))));
  return ipaddr.fromByteArray(bytes).toString();
}
