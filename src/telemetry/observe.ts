import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** Is called after every answer. */
export interface Observer {
  /** The answer is sent, or the client has disconnected. @param ms since the request arrived. */
  answered(request: Request, response: Response, ms: number): void;
}

/**
 * Gives every request its id, returns it in `X-Request-Id`, and calls the observers after the answer. They share one
 * listener, because each listener costs a request as much as a route does.
 */
export function observe(...observers: readonly Observer[]): (request: Request, response: Response) => void {
  return (request, response) => {
    const sent = request.headers['x-request-id'];
    request.requestId = typeof sent === 'string' && ACCEPTABLE.test(sent) ? sent : randomUUID();
    response.setHeader('X-Request-Id', request.requestId);
    const started = performance.now();
    response.on('close', () => {
      const ms = performance.now() - started;
      for (const observer of observers) observer.answered(request, response, ms);
    });
  };
}

/** The whole path as the client sent it. Inside a router, `request.path` lacks the path that the router is mounted on. */
export function pathOf(request: Request): string {
  const { originalUrl } = request;
  const end = originalUrl.indexOf('?');
  return end < 0 ? originalUrl : originalUrl.slice(0, end);
}
