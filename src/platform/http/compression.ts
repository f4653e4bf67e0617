import type { Request, Response } from 'express';
import { Buffer } from 'node:buffer';
import { type Gzip, createGzip } from 'node:zlib';

/** Shorter answers stay as they are: they fit into a few packets, and compressing costs more than it saves. */
export const MIN_BYTES = 4096;
/** Above 4, lists of users and CSV files hardly shrink further and take up to twice the time (docs/performance.md). */
const LEVEL = 4;
/** Media types that shrink. Not `text/event-stream`: a compressor holds events back. */
const SHRINKS =
  /^(?:text\/(?:csv|html|css|plain|javascript)|application\/(?:json|scim\+json|javascript)|image\/svg\+xml)\b/;

/** What answers to requests with another `Accept-Encoding` may look like must not be taken from a cache for this one. */
export function varies(response: Response): void {
  response.vary('Accept-Encoding');
}

/**
 * Compresses the answer to a GET, in threads of their own, where the client accepts gzip and it is worth it. Never to other
 * methods and never with a cookie: their answers hold secrets (a new API key, a session), whose length a compressor would
 * tell (BREACH). Nor where an ETag names these very bytes, as that of a user does, which comes back as `If-Match`.
 */
export function compressAnswer(request: Request, response: Response): void {
  const { method, headers } = request;
  if (method !== 'GET' || headers['accept-encoding']?.includes('gzip') !== true) return;
  if (request.acceptsEncodings('gzip') !== 'gzip') return; // `gzip;q=0`
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let gzip: Gzip | undefined;
  let decided = false;

  /** @param length of the whole body, if it is known. */
  const decide = (length: number): void => {
    decided = true;
    if (response.headersSent || length < MIN_BYTES || !isCompressible(response)) return;
    response.removeHeader('Content-Length');
    response.setHeader('Content-Encoding', 'gzip');
    varies(response);
    gzip = connect(response, write, end);
  };

  response.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    const [bytes, sent] = [bytesOf(chunk, rest[0]), callbackOf(rest)];
    if (!decided) {
      decide(Number(response.getHeader('Content-Length') ?? Number.POSITIVE_INFINITY));
      if (gzip) response.flushHeaders(); // the answer has begun, although nothing has left the compressor yet
    }
    return gzip ? gzip.write(bytes, sent) : write(bytes, sent);
  };
  response.end = (...args: unknown[]): Response => {
    const [chunk, ...rest] = typeof args[0] === 'function' ? [undefined, ...args] : args;
    const sent = callbackOf(rest);
    const bytes = chunk === undefined || chunk === null ? undefined : bytesOf(chunk, rest[0]);
    if (!decided) decide(bytes?.length ?? 0);
    if (gzip) {
      if (sent) response.once('finish', sent);
      gzip.end(bytes);
    } else if (bytes) end(bytes, sent);
    else end(sent);
    return response;
  };
}

type Sent = () => void;

/** A compressor whose output goes into the answer, as fast as the client takes it. */
function connect(response: Response, write: (chunk: Buffer) => boolean, end: () => unknown): Gzip {
  const gzip = createGzip({ level: LEVEL });
  gzip.on('data', (chunk: Buffer) => {
    if (!write(chunk)) gzip.pause();
  });
  gzip.on('end', () => {
    end();
  });
  gzip.on('drain', () => {
    response.emit('drain');
  });
  gzip.on('error', (error) => {
    response.destroy(error);
  });
  response.on('drain', () => {
    gzip.resume();
  });
  response.once('close', () => {
    gzip.destroy();
  });
  return gzip;
}

function isCompressible(response: Response): boolean {
  const header = (name: string): string => String(response.getHeader(name) ?? '');
  return (
    response.statusCode === 200 &&
    SHRINKS.test(header('Content-Type')) &&
    header('Content-Encoding') === '' &&
    header('Set-Cookie') === '' &&
    !header('Cache-Control').includes('no-transform') &&
    /^(?:W\/.*)?$/.test(header('ETag'))
  );
}

function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const known = typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';
  return Buffer.from(String(chunk), known);
}

function callbackOf(rest: readonly unknown[]): Sent | undefined {
  const callback = rest.find((each) => typeof each === 'function');
  return callback && (() => void Reflect.apply(callback, undefined, []));
}
