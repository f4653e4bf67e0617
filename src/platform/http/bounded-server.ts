import { IncomingMessage, type Server, ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ProblemError, errorCode } from '../common/errors.js';
import { CHECK_MILLIS, FILE_MILLIS, HEADERS_MILLIS, HEADER_BYTES } from './bounds.js';
import { hostFault } from './host-header.js';
import { linger } from './unread-body.js';

interface Classes {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/** Prepares a request and routes it, or refuses it. */
type Serve = (request: IncomingMessage, response: ServerResponse, refusal?: ProblemError) => void;
/** Answers a request that has been prepared. */
type Refuse = (refusal: ProblemError, request: IncomingMessage, response: ServerResponse) => void;

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
