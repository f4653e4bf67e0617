import compression from 'compression';
import type { Request, Response } from 'express';

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
