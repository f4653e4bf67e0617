import helmet from 'helmet';
import compression from 'compression';
import { IncomingMessage, type Server, ServerResponse, createServer } from 'node:http';
import { Socket } from 'node:net';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Request, Response } from 'express';
import { type Env, EnvError } from '../config/env.js';
import { readPemFile } from '../config/settings.js';
import type { Observer } from '../telemetry/observe.js';
import { ProblemError, errorCode } from '../common/errors.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { hostFault } from './request-headers.js';
import { linger } from './body-reader.js';

/** Those of TLS 1.3, and of 1.2 those with forward secrecy and authenticated encryption (Mozilla, "intermediate"). */
const FORWARD_SECRECY = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Runs for every request before its route is looked up. It may not answer. */
export type Preparation = (request: Request, response: Response) => void;

/**
 * What the service needs to speak HTTPS itself; undefined where it does not.
 * @throws EnvError naming the setting whose file cannot be read.
 */
export function tlsOptions({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Env) {
  if (cert === undefined && key === undefined) return undefined;
  const missing = cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE';
  if (cert === undefined || key === undefined) {
    throw new EnvError(`${missing} is missing: TLS_CERT_FILE and TLS_KEY_FILE go together.`);
  }
  return {
    cert: readPemFile('TLS_CERT_FILE', cert),
    key: readPemFile('TLS_KEY_FILE', key),
    minVersion: 'TLSv1.2' as const,
    ciphers: FORWARD_SECRECY,
    honorCipherOrder: true,
  };
}

/** Closes idle connections after each answer of a server that no longer listens, so that none delays its end. */
export function closePromptly(server: Server): Observer {
  return {
    answered: () => {
      if (server.listening) return;
      setImmediate(() => {
        server.closeIdleConnections();
      });
    },
  };
}

const NOTHING = ["'none'"];
const SELF = ["'self'"];

/** A browser may only show an answer. */
const OF_AN_ANSWER = {
  'default-src': NOTHING,
  'base-uri': NOTHING,
  'form-action': NOTHING,
  'frame-ancestors': NOTHING,
};
/** Swagger UI loads its scripts from files and styles its elements inline. */
const OF_THE_DOCS = {
  ...OF_AN_ANSWER,
  'script-src': SELF,
  'style-src': [...SELF, "'unsafe-inline'"],
  'img-src': [...SELF, 'data:'],
  'connect-src': SELF,
};
/** The console loads its own files, and talks to this service only. No text becomes markup or code in it. */
const OF_THE_CONSOLE = {
  ...OF_AN_ANSWER,
  'script-src': SELF,
  'style-src': SELF,
  'img-src': SELF,
  'connect-src': SELF,
  'require-trusted-types-for': ["'script'"],
};

/** Headers that matter for pages in a browser only. */
const OF_PAGES_ALONE = {
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/** Security headers (OWASP HTTP Headers Cheat Sheet). @param https whether clients reach the service by HTTPS. */
export function securityHeaders(https: boolean): Preparation {
  const withPolicy = (directives: Record<string, string[]>, more = {}) =>
    headersOf({
      contentSecurityPolicy: { useDefaults: false, directives },
      strictTransportSecurity: https,
      // No page of another origin embeds an answer; the picture of users without one says otherwise itself.
      crossOriginResourcePolicy: { policy: 'same-origin' },
      ...more,
    });
  const pages = withPolicy(OF_AN_ANSWER);
  const docs = withPolicy(OF_THE_DOCS);
  const ofConsole = withPolicy(OF_THE_CONSOLE);
  // Personal data: no cache may keep it. Clients that use ETags revalidate with If-None-Match.
  const api = [
    ...withPolicy(OF_AN_ANSWER, OF_PAGES_ALONE),
    ['Cache-Control', 'no-store'] satisfies [string, string],
  ];
  const families: Partial<Record<string, [string, string][]>> = {
    '/api/': api,
    '/scim': api,
    '/docs': docs,
    '/cons': ofConsole,
  };
  return (request, response) => {
    const headers = families[request.url.slice(0, 5).toLowerCase()] ?? pages; // routes are found in any case
    for (const [name, value] of headers) response.setHeader(name, value);
    if (headers === docs) varies(response); // its files may be cached, compressed or not
  };
}

class Recorder extends ServerResponse {
  readonly headers: [string, string][] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.push([name, String(value)]);
    return this;
  }
}

/** The headers that helmet sets, computed once: none of them depends on the request. */
function headersOf(options: Parameters<typeof helmet>[0]): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new Recorder(request);
  helmet(options)(request, response, (error?: unknown) => {
    if (error instanceof Error) throw error;
  });
  return response.headers;
}

interface Classes {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/** Prepares a request and routes it, or refuses it. */
type Serve = (request: IncomingMessage, response: ServerResponse, refusal?: ProblemError) => void;
/** Answers a request that has been prepared. */
type Refuse = (refusal: ProblemError, request: IncomingMessage, response: ServerResponse) => void;

/** Request line and headers: Node's own default, written down so that no option of the process raises it. */
export const HEADER_BYTES = 16 * 1024;

/** A connection that has not sent all headers of a request by then is closed. Headers are a few packets. */
const HEADERS_MILLIS = 15_000;

/** The longest that any request may take to arrive: a file of 100 MiB over a slow line. */
const FILE_MILLIS = 15 * 60 * 1000;

/** How often deadlines are checked. Node's default of 30 s would treble the deadline of headers. */
const CHECK_MILLIS = 2000;

const LIMITS = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_MILLIS,
  requestTimeout: FILE_MILLIS,
  handshakeTimeout: HEADERS_MILLIS, // of TLS: Node waits 120 s
  connectionsCheckingInterval: CHECK_MILLIS,
  requireHostHeader: false, // `serve` refuses it, in the form of every other answer
  joinDuplicateHeaders: true, // of two Host headers, Node.js would take the first and forget the other
};

/**
 * A server with the bounds of this service. What its parser or its deadlines refuse goes the way of all requests, so that
 * it has the same form, request id, log line and metric.
 * @param tls HTTP when undefined.
 */
export function boundedServer(
  tls: ServerOptions | undefined,
  classes: Classes,
  serve: Serve,
  refuse: Refuse,
): Server {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const route: Serve = (request, response, refusal) => {
    latest.set(request.socket, response);
    serve(request, response, refusal ?? withoutHost(request) ?? withoutPath(request));
  };
  /** Answers on a connection that Node.js has given up. */
  const answer = (socket: Socket, request: IncomingMessage, refusal: ProblemError): void => {
    const response = new classes.ServerResponse(request);
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      response.emit('close'); // as Node.js does for the requests that it reads
      linger(socket);
    });
    route(request, response, refusal);
  };
  const settings = { ...classes, ...LIMITS };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    route(request, response);
  };
  const server = tls ? createTlsServer({ ...tls, ...settings }, listener) : createServer(settings, listener);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Node.js keeps the address once it is read; when the client has reset the connection it is too late.
    Reflect.get(socket, 'remoteAddress');
  });
  server.on('checkContinue', listener); // the reader of the body sends the 100
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const detail = 'Only Expect: 100-continue can be met.';
    route(request, response, new ProblemError('expectation_failed', detail));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const isBusy = latest.get(socket)?.closed === false;
    if (socket instanceof Socket && !isBusy)
      answer(socket, request, malformed('This service is not a proxy.'));
    else socket.destroy();
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    const refusal = refusalOf(error);
    const last = latest.get(socket);
    const isReading = last !== undefined && !last.closed && !last.headersSent && !last.req.complete;
    if (isReading && errorCode(error) === BROKE_OFF) {
      socket.destroy(); // its client has left; who reads the body learns of it
      return;
    }
    // A connection that has sent nothing has asked for nothing: a browser or a balancer keeps it ready.
    if (!refusal || !(socket instanceof Socket) || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    if (!last || last.closed) {
      answer(socket, unknownRequest(classes, socket), refusal);
    } else if (last.headersSent) {
      if (!last.writableEnded) socket.destroy(); // what follows half of an answer would pass for its rest
    } else if (last.req.complete) {
      last.setHeader('Connection', 'close'); // what came behind that request is none
    } else {
      refuse(refusal, last.req, last);
      last.once('close', () => last.req.destroy()); // who reads the body waits for the rest
    }
  });
  return server;
}

/** The connection ended within a request. */
const BROKE_OFF = 'HPE_INVALID_EOF_STATE';

function withoutHost(request: IncomingMessage): ProblemError | undefined {
  const fault = hostFault(request);
  return fault === undefined ? undefined : malformed(fault);
}

/** A whole URL as the target (RFC 9112, section 3.2.2) must be one: Express answers others by itself. */
function withoutPath({ url = '' }: IncomingMessage): ProblemError | undefined {
  if (url.startsWith('/') || url === '*' || URL.canParse(url)) return undefined;
  return malformed('The target of the request is neither a path nor a URL.');
}

/** The request of a client whose bytes could not be read as one. */
function unknownRequest(classes: Classes, socket: Socket): IncomingMessage {
  const request = new classes.IncomingMessage(socket);
  request.method = 'none';
  request.url = '';
  return request;
}

/** Undefined where the connection itself has failed, or TLS. */
function refusalOf(error: Error): ProblemError | undefined {
  const code = errorCode(error) ?? '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ProblemError('request_timeout', 'The request did not arrive in time.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ProblemError('headers_too_large', `The headers have more than ${HEADER_BYTES / 1024} KiB.`);
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new ProblemError('too_large', 'The extensions of the chunks are too long.');
  }
  return code.startsWith('HPE_') ? malformed('The request is not valid HTTP/1.1.') : undefined;
}

function malformed(detail: string): ProblemError {
  return new ProblemError('malformed_request', detail);
}

/** One line says how many connections were refused in this time. */
const REPORT_MILLIS = 60_000;

/**
 * Bounds the connections of this process, whatever they send or do not send: each takes a file descriptor and memory before
 * anything of it is known. One more is closed without an answer, and shows in the log and the metrics.
 */
export function limitConnections(server: Server, most: number, log: Log, metrics: Metrics): void {
  server.maxConnections = most;
  // In a cluster the primary would offer it to the other workers, round and round while all are full.
  Object.assign(server, { dropMaxConnection: true });
  let open = 0;
  let refused = 0;
  let reported = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
  server.on('drop', () => {
    refused++;
    if (performance.now() - reported < REPORT_MILLIS) return;
    reported = performance.now();
    log.warning('connections refused', { limit: most, refused });
  });
  metrics.gauge('rollcall_connections', 'Open connections.', 'sum', () => open);
  metrics.gauge('rollcall_connections_refused', 'Connections over MAX_CONNECTIONS.', 'sum', () => refused);
}

/** Shorter responses stay as they are: they fit into a few packets, and compressing costs more than it saves. */
export const MIN_BYTES = 4096;
/** Above 4, lists of users and CSV files hardly shrink further and take up to twice the time (docs/performance.md). */
const LEVEL = 4;
/** The request as the package sees it, which would prefer Brotli where the client accepts that too. */
const GZIP_ONLY = { method: 'GET', headers: { 'accept-encoding': 'gzip' } } as Request;

const compress = compression({
  level: LEVEL,
  threshold: MIN_BYTES,
  filter: (request, response) => isCompressible(response) && compression.filter(request, response),
});

/** Adds `Vary: Accept-Encoding`: a cache must not serve this response to a request with another `Accept-Encoding`. */
export function varies(response: Response): void {
  response.vary('Accept-Encoding');
}

/**
 * Compresses the response to a GET in other threads, where the client accepts gzip and it is worth it. Responses to other
 * methods, and those with a cookie, hold secrets, whose length a compressor would reveal (BREACH).
 */
export function compressResponse(request: Request, response: Response): void {
  if (request.method !== 'GET' || request.headers['accept-encoding']?.includes('gzip') !== true) return;
  compress(GZIP_ONLY, response, () => undefined);
}

/** An ETag that names these very bytes, as that of a user does, comes back as `If-Match`. A compressor delays events. */
function isCompressible(response: Response): boolean {
  const header = (name: string): string => String(response.getHeader(name) ?? '');
  return (
    response.statusCode === 200 &&
    /^(?:W\/.*)?$/.test(header('ETag')) &&
    Number(header('Content-Length') || MIN_BYTES) >= MIN_BYTES &&
    header('Set-Cookie') === '' &&
    !header('Content-Type').startsWith('text/event-stream') &&
    response.req.acceptsEncodings('gzip') === 'gzip' // not `gzip;q=0`
  );
}
