import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { hasSecret } from '../common/secrets.js';

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Returns false for ids that look like a credential, because request ids are logged and stored unmasked. */
const isAcceptableId = (id: string): boolean => VALID_REQUEST_ID.test(id) && !hasSecret(id);

/** The status of a complete response, or `aborted` if the client disconnected earlier. */
export type RequestResult = number | 'aborted';

export interface RequestObserver {
  /** Called after the response is sent or the client has disconnected. @param ms milliseconds since the request arrived. */
  onRequestEnd(request: Request, response: Response, ms: number, outcome: RequestResult): void;
}

/**
 * Returns a function that assigns the request id, returns it in `X-Request-Id` and notifies observers at the end of the
 * request. Observers share one listener, because a listener costs as much as a short route.
 */
export function observeRequests(...observers: readonly RequestObserver[]) {
  return (request: Request, response: Response): void => {
    const sent = request.headers['x-request-id'];
    request.requestId = typeof sent === 'string' && isAcceptableId(sent) ? sent : randomUUID();
    response.setHeader('X-Request-Id', request.requestId);
    const started = performance.now();
    response.on('close', () => {
      const ms = performance.now() - started;
      const outcome = getResult(request, response);
      for (const observer of observers) observer.onRequestEnd(request, response, ms, outcome);
    });
  };
}

/** Status that is reported for a response that the service cut off after a failure. */
const CUT_OFF_STATUS = 500;

/**
 * Returns the result of a request. An error of the response comes from the service, and an error of the socket is a
 * disconnect. A response without a socket is complete, because Node.js detaches the socket of a complete response.
 */
function getResult({ socket }: { socket: Socket | null }, response: Response): RequestResult {
  if (response.errored) return CUT_OFF_STATUS;
  return response.socket === null && !socket?.errored ? response.statusCode : 'aborted';
}

/** Returns the full path as the client sent it. In a router, `request.path` lacks the mount path. */
export function getPath(request: Request): string {
  const target = request.originalUrl || request.url; // requests that are rejected before Express lack `originalUrl`
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}
