import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * A name or an IPv4 address, and a port (RFC 3986, section 3.2.2). The grammar has a comma too, which no host has: it is how
 * several lines become one on the way.
 */
const NAMED = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+(?::\d{0,5})?$/i;
/** An IPv6 address, or one of a version to come. */
const BRACKETED = /^\[(?:([\d:.a-f]+)|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\](?::\d{0,5})?$/i;

/**
 * What is wrong with the Host header of a request, if anything (RFC 9112, section 3.2): HTTP/1.1 asks for one, of one line
 * and with a valid value. An empty value is valid: the client knows no name of the service. The server must join lines of the
 * same name (`joinDuplicateHeaders`): a comma and a space are in no host.
 */
export function hostFault({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>) {
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : undefined;
  if (host === '' || NAMED.test(host)) return undefined;
  const [isBracketed, address] = BRACKETED.exec(host) ?? [];
  if (isBracketed !== undefined && (address === undefined || isIPv6(address))) return undefined;
  return 'The Host header must be sent once, with a host and perhaps a port.';
}
