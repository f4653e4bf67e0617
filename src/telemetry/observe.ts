import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** What wants to know of every answer. */
export interface Observer {
  /** The answer is out, or its client has gone. @param ms since the request came. */
  answered(request: Request, response: Response, ms: number): void;
}

/**
 * Gives every request its id, returns it in `X-Request-Id`, and tells the observers of the answer. One listener for
 * all of them: each would cost a request as much as a route does.
 */
export function observe(...observers: readonly Observer[]): (request: Request, response: Response) => void {
  return (request, response) => {
    const given = request.headers['x-request-id'];
    request.requestId = typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', request.requestId);
    const started = performance.now();
    response.on('close', () => {
      const ms = performance.now() - started;
      for (const observer of observers) observer.answered(request, response, ms);
    });
  };
}

/** The whole path as the client sent it; inside a router `request.path` lacks what the router is mounted on. */
export function pathOf(request: Request): string {
  const { originalUrl } = request;
  const end = originalUrl.indexOf('?');
  return end < 0 ? originalUrl : originalUrl.slice(0, end);
}
