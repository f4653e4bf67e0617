import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that name a network: its holder has all 2^64 addresses of it. */
const NETWORK_GROUPS = 4;

/** The address as limits count it: an IPv4 address, or the /64 network of an IPv6 address. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = (ip.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const front = groups(head);
  const back = groups(tail ?? '');
  // An address that ends in dotted form has one group less than it seems.
  const dotted = ip.includes('.') ? 1 : 0;
  const zeros = tail === undefined ? 0 : 8 - dotted - front.length - back.length;
  const all = [...front, ...Array.from({ length: zeros }, () => '0'), ...back];
  return `${all
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
