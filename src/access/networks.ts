import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** A network of addresses of one family. */
interface Network {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  /** Leading bits that its addresses share. */
  bits: number;
}

/** Characters of the longest network: six groups of IPv6, an IPv4 address, and the prefix. */
export const MAX_NETWORK = '0000:0000:0000:0000:0000:ffff:255.255.255.255/128'.length;
/** The bits before an IPv4 address in its IPv6 form `::ffff:10.0.0.1`. */
const MAPPED_BITS = 96;

/**
 * A network in its one form: `10.0.0.0/8` or `2001:db8::/32`; a single address is a network of its own, and an IPv4-mapped
 * one is IPv4. @returns undefined for what is no network, or one whose address has bits behind its prefix, because
 * `10.1.2.3/8` may mean one address or sixteen million.
 */
export function canonicalNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && `${network.address.toString()}/${network.bits}`;
}

/** Whether an address, as a request has it, is in one of the networks. What is no address is in none. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const host = parseNetwork(ip.replace(/%.*$/, '')); // the interface of a link-local address is not part of it
  return host !== undefined && networks.some((network) => holds(parseNetwork(network), host));
}

/** Whether all addresses of `inner` are in one network of `outer`; two that only together hold it do not count. */
export function areWithin(inner: readonly string[], outer: readonly string[]): boolean {
  return inner.every((network) => {
    const parsed = parseNetwork(network);
    return parsed !== undefined && outer.some((other) => holds(parseNetwork(other), parsed));
  });
}

function holds(outer: Network | undefined, inner: Network): boolean {
  if (!outer || outer.bits > inner.bits) return false;
  return commonBits(outer.address, inner.address) >= outer.bits;
}

/** How many leading bits two addresses share; -1 for addresses of two families. */
function commonBits(a: Network['address'], b: Network['address']): number {
  if (a.kind() !== b.kind()) return -1;
  const [left, right] = [a.toByteArray(), b.toByteArray()];
  const at = left.findIndex((byte, index) => byte !== right[index]);
  if (at === -1) return left.length * 8;
  return at * 8 + Math.clz32((left[at] ?? 0) ^ (right[at] ?? 0)) - 24;
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
  return hasBitsBehind(plain, bits) ? undefined : { address: plain, bits };
}

/** Strict: ipaddr.js itself reads `127.1`, octal and hexadecimal parts, and one number as addresses. */
function parseAddress(ip: string): Network['address'] | undefined {
  const family = isIP(ip);
  if (family === 0 || ip.includes('%')) return undefined;
  // A URL writes an IPv6 address without a dotted end, which ipaddr.js reads in few places only.
  return family === 4
    ? ipaddr.IPv4.parse(ip)
    : ipaddr.IPv6.parse(new URL(`http://[${ip}]/`).hostname.slice(1, -1));
}

function hasBitsBehind(address: Network['address'], bits: number): boolean {
  return address.toByteArray().some((byte, index) => {
    const free = Math.min(8, Math.max(0, (index + 1) * 8 - bits));
    return (byte & ((1 << free) - 1)) !== 0;
  });
}
