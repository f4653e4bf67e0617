import helmet from 'helmet';
import { IncomingMessage, type Server, ServerResponse, createServer } from 'node:http';
import { Socket } from 'node:net';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { Request, Response } from 'express';
import { type Env, EnvError } from '../config/env.js';
import { readPemFile } from '../config/settings.js';
import type { RequestObserver } from '../telemetry/observe.js';
import { ProblemError, errorCodeOf } from '../common/errors.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { findHostError } from './request-headers.js';
import { closeGracefully } from './body-reader.js';
import { RequestQueue } from './request-queue.js';

/** Cipher suites of TLS 1.3, and suites of TLS 1.2 with forward secrecy and AEAD (Mozilla's "intermediate" profile). */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE+AESGCM',
  'ECDHE+CHACHA20',
].join(':');

/** A function that runs for every request before routing. It must not send a response. */
export type Preparation = (request: Request, response: Response) => void;

/**
 * Returns the options of built-in HTTPS, or undefined if HTTPS is not configured.
 * @throws EnvError if only one of `TLS_CERT_FILE` and `TLS_KEY_FILE` is set, or if a file cannot be read.
 */
export function readTlsOptions({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Env) {
  if (cert === undefined && key === undefined) return undefined;
  const missing = cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE';
  if (cert === undefined || key === undefined) {
    throw new EnvError(`${missing} is missing. Set both TLS_CERT_FILE and TLS_KEY_FILE, or neither.`);
  }
  return {
    cert: readPemFile('TLS_CERT_FILE', cert),
    key: readPemFile('TLS_KEY_FILE', key),
    minVersion: 'TLSv1.2' as const,
    ciphers: CIPHERS,
  };
}

export function createIdleCloser(server: Server): RequestObserver {
  return {
    onRequestEnd: () => {
      if (!server.listening) setImmediate(server.closeIdleConnections.bind(server));
    },
  };
}

const NONE = ["'none'"];
const SELF = ["'self'"];

/** Policy of API responses and plain pages: a browser may display them but not run or load anything. */
const BASE_POLICY = { 'default-src': NONE, 'base-uri': NONE, 'form-action': NONE, 'frame-ancestors': NONE };
/** Policy of pages that load only files of this service. */
const FILES_POLICY = {
  ...BASE_POLICY,
  'script-src': SELF,
  'style-src': SELF,
  'img-src': SELF,
  'connect-src': SELF,
};
/** Policy of Swagger UI, which also uses inline styles and images. */
const DOCS_POLICY = {
  ...FILES_POLICY,
  'style-src': [...SELF, "'unsafe-inline'"],
  'img-src': [...SELF, 'data:'],
};
/** Policy of the console: only own files, connections to this service only, and no injection of markup (Trusted Types). */
const CONSOLE_POLICY = { ...FILES_POLICY, 'require-trusted-types-for': ["'script'"] };

/** Options of helmet that turn off the headers that affect only HTML pages. */
const WITHOUT_PAGE_HEADERS = {
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/**
 * Creates the preparation that sets security headers (OWASP HTTP Headers Cheat Sheet).
 * @param https true if clients use HTTPS, directly or through a proxy.
 */
export function createSecurityHeaders(https: boolean): Preparation {
  const toHeaders = (directives: Record<string, string[]>, overrides = {}) =>
    computeHeaders({
      contentSecurityPolicy: { useDefaults: false, directives },
      strictTransportSecurity: https,
      // For browsers and scanners that ignore `frame-ancestors`.
      xFrameOptions: { action: 'deny' },
      // Responses cannot be embedded cross-origin. The default avatar route overrides this.
      crossOriginResourcePolicy: { policy: 'same-origin' },
      ...overrides,
    });
  const pages = toHeaders(BASE_POLICY);
  const docs = toHeaders(DOCS_POLICY);
  const consolePage = toHeaders(CONSOLE_POLICY);
  // Responses contain personal data, so caches must not store them.
  const api = toHeaders(BASE_POLICY, WITHOUT_PAGE_HEADERS);
  api.push(['Cache-Control', 'no-store']);
  const prefixes = { '/api/': api, '/scim': api, '/docs': docs, '/cons': consolePage };
  const headersOfPrefix: Partial<Record<string, [string, string][]>> = prefixes;
  return (request, response) => {
    for (const [name, value] of headersOfPrefix[request.url.slice(0, 5)] ?? pages)
      response.setHeader(name, value);
  };
}

/** Returns the headers that helmet sets. They are the same for every response, so they are computed only once. */
function computeHeaders(options: Parameters<typeof helmet>[0]): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, (error?: unknown) => {
    if (error instanceof Error) throw error;
  });
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}

interface MessageClasses {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/** Routes a request, or responds with `rejection` if it is set. */
type Serve = (request: IncomingMessage, response: ServerResponse, rejection?: ProblemError) => void;
type Reject = (rejection: ProblemError, request: IncomingMessage, response: ServerResponse) => void;

/** Maximum bytes of the request line and headers. Node's default, set explicitly so that no process option can raise it. */
export const HEADER_BYTES = 16 * 1024;

/** Deadline for the headers of a request. */
const HEADERS_MILLIS = 15_000;

/** Deadline for a whole request. Allows for 100 MiB over a slow connection. */
const REQUEST_MILLIS = 15 * 60 * 1000;

/** Interval at which deadlines are checked. Node's default of 30 s would triple the header deadline. */
const DEADLINE_CHECK_MILLIS = 2000;

const LIMITS = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_MILLIS,
  requestTimeout: REQUEST_MILLIS,
  handshakeTimeout: HEADERS_MILLIS, // for TLS, where Node's default is 120 s
  connectionsCheckingInterval: DEADLINE_CHECK_MILLIS,
  requireHostHeader: false, // this service checks it itself, with the usual error format
  joinDuplicateHeaders: true, // otherwise Node.js silently drops a second Host header
};

/**
 * Creates a server with size and time limits. Requests that the HTTP parser or a deadline rejects get the same error
 * format, request id, log line and metric as other requests.
 * @param tls options of HTTPS. Undefined for HTTP.
 */
export function createLimitedServer(
  tls: ServerOptions | undefined,
  classes: MessageClasses,
  serve: Serve,
  refuse: Reject,
): Server {
  const queue = new RequestQueue();
  const validateAndServe: Serve = (request, response, rejection) => {
    queue.add(request, response, () => {
      serve(request, response, rejection ?? findHostProblem(request) ?? findTargetProblem(request));
    });
  };
  /** Sends a response on a connection that Node.js no longer reads. */
  const respondOnSocket = (socket: Socket, request: IncomingMessage, rejection: ProblemError): void => {
    const response = new classes.ServerResponse(request);
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      response.emit('close'); // Node.js emits `close` only for responses that it created itself
      closeGracefully(socket);
    });
    validateAndServe(request, response, rejection);
  };
  const settings = { ...classes, ...LIMITS };
  const server = tls
    ? createTlsServer({ ...tls, ...settings }, validateAndServe)
    : createServer(settings, validateAndServe);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Reading the address caches it. After the client resets the connection, the address is no longer available.
    Reflect.get(socket, 'remoteAddress');
  });
  server.on('checkContinue', validateAndServe); // `BodyReader` sends the response `100 Continue`
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const detail = 'Unsupported Expect header. Only 100-continue is supported.';
    validateAndServe(request, response, new ProblemError('expectation_failed', detail));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const isBusy = queue.findLatestResponse(socket)?.closed === false;
    const rejection = createMalformedError('CONNECT is not supported: this service is not a proxy.');
    if (socket instanceof Socket && !isBusy) respondOnSocket(socket, request, rejection);
    else socket.destroy();
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    const rejection = toRejection(error);
    const last = queue.findLatestResponse(socket);
    const isReading = last !== undefined && !last.closed && !last.headersSent && !last.req.complete;
    if (isReading && errorCodeOf(error) === UNEXPECTED_END) {
      socket.destroy(); // the client has disconnected, and the reader of the body reports this
      return;
    }
    // A connection without any bytes gets no response, because browsers and load balancers open spare connections.
    if (!rejection || !(socket instanceof Socket) || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    if (!last || last.closed) {
      respondOnSocket(socket, createPlaceholderRequest(classes, socket), rejection);
    } else if (last.headersSent) {
      if (!last.writableEnded) socket.destroy(); // the error response would become part of the unfinished response
    } else if (last.req.complete) {
      last.setHeader('Connection', 'close'); // the bytes after the last request are invalid, so the connection must close
    } else {
      refuse(rejection, last.req, last);
      last.once('close', () => last.req.destroy()); // ends a pending read of the body
    }
  });
  return server;
}

/** Parser error: the connection ended within a request. */
const UNEXPECTED_END = 'HPE_INVALID_EOF_STATE';

function findHostProblem(request: IncomingMessage): ProblemError | undefined {
  const fault = findHostError(request);
  return fault === undefined ? undefined : createMalformedError(fault);
}

/**
 * Returns the error for an invalid request target (RFC 9112, section 3.2.2), or undefined if the target is valid. Without
 * this check, Express would send its own error response.
 */
function findTargetProblem({ url = '' }: IncomingMessage): ProblemError | undefined {
  if (url.startsWith('/') || url === '*' || URL.canParse(url)) return undefined;
  return createMalformedError('The request target is invalid. Send a path or an absolute URL.');
}

function createPlaceholderRequest(classes: MessageClasses, socket: Socket): IncomingMessage {
  const request = new classes.IncomingMessage(socket);
  request.method = 'none';
  request.url = '';
  return request;
}

/** Converts a parser or deadline error to a problem. @returns undefined for a failure of the connection or of TLS. */
function toRejection(error: Error): ProblemError | undefined {
  const code = errorCodeOf(error) ?? '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ProblemError('request_timeout', 'The request did not arrive in time. Send it again.');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ProblemError('headers_too_large', `The request headers exceed ${HEADER_BYTES / 1024} KiB.`);
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new ProblemError('too_large', 'The chunk extensions are too long. Send the body without them.');
  return code.startsWith('HPE_') ? createMalformedError('The request is not valid HTTP/1.1.') : undefined;
}

function createMalformedError(detail: string): ProblemError {
  return new ProblemError('malformed_request', detail);
}

/** Interval between log lines about refused connections. */
const REPORT_MILLIS = 60_000;

/**
 * Limits the open connections of this process, because even an idle connection uses a file descriptor and memory. Further
 * connections are closed without a response, logged and counted.
 */
export function limitConnections(server: Server, max: number, log: Log, metrics: Metrics): void {
  server.maxConnections = max;
  // Without this option, the primary would offer a refused connection to one full instance after another.
  Object.assign(server, { dropMaxConnection: true });
  let refused = 0;
  let reported = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    refused++;
    if (performance.now() - reported < REPORT_MILLIS) return;
    reported = performance.now();
    log.warn('connections refused', { limit: max, refused });
  });
  const countOpen = promisify(server.getConnections.bind(server));
  metrics.addGauge('rollcall_connections', 'Open connections.', () => countOpen());
  metrics.addGauge(
    'rollcall_connections_refused',
    'Connections refused because of MAX_CONNECTIONS.',
    () => refused,
  );
}
