import ipaddr from 'ipaddr.js';
import { SocketAddress, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../common/errors.js';
import { deceptiveIn, isCleanText, isWithin, normaliseLine } from '../common/text.js';

/** An IPv4 address as IPv6 writes it (RFC 4291, section 2.5.5.2), in the form of `inet_ntop`. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
/** Some proxies (Azure's Application Gateway) forward the port of the client too. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+)):\d{1,5}$/;

/**
 * An IP address in its one form: IPv4 with dots, IPv6 as RFC 5952 writes it, without port and zone; an IPv4 address that
 * came as IPv6 is that IPv4 address. @returns undefined for what is no address.
 */
export function normalAddress(text: string): string | undefined {
  return isIPv4(text) ? text : normalize(text);
}

function normalize(text: string): string | undefined {
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (inBrackets ?? beforePort ?? text).split('%', 1); // a zone means something on one host only
  if (isIPv4(address)) return inBrackets === undefined ? address : undefined;
  if (isIP(address) !== 6) return undefined;
  const { address: normal } = new SocketAddress({ address, family: 'ipv6' });
  return MAPPED.exec(normal)?.[1] ?? normal;
}

/** The header by which a command of this machine names the user of the operating system that runs it. */
export const LOCAL_USER = 'x-local-user';
const USER_NAME = /^[!-~]{1,59}$/;

/** The address of a client of the private socket, as the audit stores it: `unix:alice`. Empty for a client without a name. */
export const localAddress = (user: unknown): string =>
  typeof user === 'string' && USER_NAME.test(user) ? `unix:${user}` : '';

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

/**
 * Characters that are read of `X-Forwarded-For`, from its end: every proxy appends an address, and each trusted address is
 * parsed. There are no twenty proxies in a row.
 */
export const FORWARDED_CHARACTERS = 1000;

/** Shortens a list of forwarded addresses from its beginning, which only its sender vouches for. */
export function boundForwarded({ headers }: Request): void {
  const list = headers['x-forwarded-for'];
  if (typeof list !== 'string' || list.length <= FORWARDED_CHARACTERS) return;
  const end = list.slice(-FORWARDED_CHARACTERS);
  headers['x-forwarded-for'] = end.slice(end.indexOf(',') + 1);
}

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
  if (host === '' || NAMED.test(host) || isBracketed(host)) return undefined;
  return 'The Host header must be sent once, with a host and perhaps a port.';
}

function isBracketed(host: string): boolean {
  const [matched, address] = BRACKETED.exec(host) ?? [];
  return matched !== undefined && (address === undefined || isIPv6(address));
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the method of a request changes nothing (RFC 9110, section 9.2.1). */
export function isSafe({ method }: { method: string }): boolean {
  return SAFE.has(method);
}

/** The header by which a client says why it changes something. */
export const AUDIT_REASON = 'X-Audit-Reason';
export const MAX_REASON = 500;

/**
 * Why a request changes something, for the audit. A header has no letters beyond ASCII: others are percent-encoded as UTF-8.
 * @returns undefined where nothing is said. @throws ProblemError `invalid_parameter`.
 */
export function auditReasonOf(request: Request): string | undefined {
  const sent = request.headers['x-audit-reason'];
  if (typeof sent !== 'string' || isSafe(request)) return undefined;
  return checkedReason(decoded(sent), AUDIT_REASON);
}

/** @param name of the header or option that it comes from. @returns undefined for an empty one. @throws ProblemError `invalid_parameter`. */
export function checkedReason(text: string, name: string): string | undefined {
  const reason = normaliseLine(text);
  if (!isWithin(reason, MAX_REASON) || !isCleanText(reason) || deceptiveIn(reason) !== undefined) {
    throw new ProblemError(
      'invalid_parameter',
      `${name} must have at most ${MAX_REASON} characters, in one line, and none that changes the order of what is read.`,
    );
  }
  return reason === '' ? undefined : reason;
}

function decoded(sent: string): string {
  try {
    return decodeURIComponent(sent);
  } catch {
    throw new ProblemError('invalid_parameter', `${AUDIT_REASON} must be percent-encoded UTF-8.`);
  }
}

/**
 * Returns the versions that an `If-Match` admits, undefined when it admits any (`*`, or no header).
 * @param tag matches an entity tag of this service, with the version as its first group. Other tags admit no version.
 */
export function parseIfMatch(ifMatch: string | undefined, tag: RegExp): number[] | undefined {
  return ifMatch === undefined || ifMatch.trim() === '*' ? undefined : versionsOf(ifMatch, tag);
}

function versionsOf(ifMatch: string, tag: RegExp): number[] {
  return ifMatch.split(',').flatMap((each) => {
    const found = tag.exec(each.trim())?.[1];
    return found === undefined ? [] : [Number(found)];
  });
}

/** The version of a resource as its `meta.version` and its `ETag` (RFC 7644, section 3.14). */
export const etagOf = ({ version }: { version: number }): string => `W/"${version}"`;

/** Providers send a version with and without `W/`: both mean the version itself. */
const TAG = /^(?:W\/)?"(\d{1,9})"$/i;

/** Returns the versions that an `If-Match` admits, undefined when it admits any. */
export const versionsIn = (ifMatch: string | undefined): number[] | undefined => parseIfMatch(ifMatch, TAG);

/** Whether the client has this version already, by its `If-None-Match`. */
export function isNotModified(ifNoneMatch: string | undefined, version: number): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (versionsIn(ifNoneMatch) ?? []).includes(version);
}

/** This media type alone, with any parameters and weight. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/** Whether `Accept` names `application/json` alone, so that the response has no more specific type. */
export function asksForPlainJson({ headers }: Request): boolean {
  return PLAIN_JSON.test(headers.accept ?? '');
}
