import ipaddr from 'ipaddr.js';

/** The address as limits count it: an IPv4 address, or the /64 network of an IPv6 address, which has one holder. */
export function networkOf(ip: string): string {
  // ipaddr.js 1 refuses most addresses with a dotted end, which is not part of the network.
  const readable = ipaddr.isValid(ip) ? ip : ip.replace(/:[\d.]+$/, ':0:0');
  if (!ipaddr.isValid(readable)) return ip;
  const address = ipaddr.process(readable);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
