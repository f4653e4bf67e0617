import ipaddr from 'ipaddr.js';
import { SocketAddress, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../common/errors.js';
import { findDeceptive, isCleanText, isWithin, normalizeLine } from '../common/text.js';

/** An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
/** An address with a client port, as Azure Application Gateway forwards it. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+)):\d{1,5}$/;

/**
 * Normalizes an IP address: IPv4 in dotted form, IPv6 by RFC 5952, without port and zone. IPv4-mapped IPv6 addresses
 * become IPv4. @returns undefined for an invalid address.
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (inBrackets ?? beforePort ?? text).split('%', 1); // removes the zone, which is meaningful only on its own host
  if (isIPv4(address)) return inBrackets === undefined ? address : undefined;
  if (isIP(address) !== 6) return undefined;
  const { address: normal } = new SocketAddress({ address, family: 'ipv6' });
  return MAPPED_IPV4.exec(normal)?.[1] ?? normal;
}

/** Header in which a local command sends the name of its operating system user. */
export const LOCAL_USER_HEADER = 'x-local-user';
const USER_NAME = /^[!-~]{1,59}$/;

/**
 * Returns the address that the audit stores for a client of the private socket, such as `unix:alice`. Returns an empty
 * string for an invalid user name.
 */
export const toUnixAddress = (userName: unknown): string =>
  typeof userName === 'string' && USER_NAME.test(userName) ? `unix:${userName}` : '';

/** Returns true for an address of `toUnixAddress`. */
export const isUnixAddress = (address: string): boolean => address.startsWith('unix:');

/** Returns the network whose addresses share limits: an IPv4 address itself, or the /64 network of an IPv6 address. */
export function toNetwork(ip: string): string {
  // ipaddr.js 1 rejects most IPv6 addresses with a dotted suffix. The suffix is not part of the /64 network, so zeros
  // replace it.
  const readable = ipaddr.isValid(ip) ? ip : ip.replace(/:[\d.]+$/, ':0:0');
  if (!ipaddr.isValid(readable)) return ip;
  const address = ipaddr.process(readable);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Maximum number of characters of `X-Forwarded-For` that are parsed. */
export const MAX_FORWARDED = 1000;

/** Truncates `X-Forwarded-For` at the start, where the client can send any value. */
export function truncateForwardedFor({ headers }: Request): void {
  const list = headers['x-forwarded-for'];
  if (typeof list !== 'string' || list.length <= MAX_FORWARDED) return;
  const end = list.slice(-MAX_FORWARDED);
  headers['x-forwarded-for'] = end.slice(end.indexOf(',') + 1);
}

/**
 * A host name or IPv4 address with an optional port (RFC 3986, section 3.2.2). The comma is excluded, because it shows
 * that several Host headers were joined.
 */
const HOST_NAME = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+(?::\d{0,5})?$/i;
/** An IPv6 address, or an address of a future IP version, in brackets. */
const HOST_IN_BRACKETS = /^\[(?:([\d:.a-f]+)|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\](?::\d{0,5})?$/i;

/**
 * Returns an error text for an invalid Host header (RFC 9112, section 3.2), or undefined if the header is valid. The
 * server must set `joinDuplicateHeaders`, so that repeated headers are detected.
 */
export function findHostError({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>) {
  const { host } = headers;
  if (host === undefined)
    return httpVersion === '1.1' ? 'The Host header is missing. It is required in HTTP/1.1.' : undefined;
  if (host === '' || HOST_NAME.test(host) || isBracketedHost(host)) return undefined;
  return 'The Host header is invalid. Send it once, with a host and an optional port.';
}

function isBracketedHost(host: string): boolean {
  const [matched, address] = HOST_IN_BRACKETS.exec(host) ?? [];
  return matched !== undefined && (address === undefined || isIPv6(address));
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns true for a safe, read-only method (RFC 9110, section 9.2.1). */
export function isSafeMethod({ method }: { method: string }): boolean {
  return SAFE_METHODS.has(method);
}

export const AUDIT_REASON = 'X-Audit-Reason';
export const MAX_REASON = 500;

/**
 * Reads the audit reason of a request. Characters outside ASCII are percent-encoded as UTF-8.
 * @returns undefined for a safe method or without a reason. @throws ProblemError `invalid_parameter`.
 */
export function readAuditReason(request: Request): string | undefined {
  const sent = request.headers['x-audit-reason'];
  if (typeof sent !== 'string' || isSafeMethod(request)) return undefined;
  return parseReason(decodeReason(sent), AUDIT_REASON);
}

/**
 * Validates a reason as single-line text.
 * @returns undefined for an empty reason.
 * @param name name of the header or option, for the error text.
 * @throws ProblemError `invalid_parameter`.
 */
export function parseReason(text: string, name: string): string | undefined {
  const reason = normalizeLine(text);
  if (isWithin(reason, MAX_REASON) && isCleanText(reason) && findDeceptive(reason) === undefined)
    return reason === '' ? undefined : reason;
  const rule = `one line of at most ${MAX_REASON} characters, without control or text direction characters`;
  throw new ProblemError('invalid_parameter', `${name} must be ${rule}.`);
}

function decodeReason(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new ProblemError('invalid_parameter', `${AUDIT_REASON} is not valid percent-encoded UTF-8.`);
  }
}

/** An `Accept` value with `application/json` as its only media type. Parameters and weight are allowed. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/** Returns true if the client accepts only `application/json`, so the response must not use a more specific media type. */
export function acceptsOnlyJson({ headers }: Request): boolean {
  return PLAIN_JSON.test(headers.accept ?? '');
}
