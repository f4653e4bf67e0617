import { SocketAddress, isIP, isIPv4 } from 'node:net';

/** An IPv4 address as IPv6 writes it (RFC 4291, section 2.5.5.2), in the form of `inet_ntop`. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
/** Some proxies (Azure's Application Gateway) forward the port of the client too. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+)):\d{1,5}$/;

/**
 * An IP address in its one form: IPv4 with dots, IPv6 as RFC 5952 writes it, without port and zone; an IPv4 address that
 * came as IPv6 is that IPv4 address. @returns undefined for what is no address.
 */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (inBrackets ?? beforePort ?? text).split('%', 1); // a zone means something on one host only
  if (isIPv4(address)) return inBrackets === undefined ? address : undefined;
  if (isIP(address) !== 6) return undefined;
  const { address: normal } = new SocketAddress({ address, family: 'ipv6' });
  return MAPPED.exec(normal)?.[1] ?? normal;
}
