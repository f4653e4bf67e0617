import type { NextFunction, Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { Log } from './log.js';
import { pathOf } from './routes.js';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives every request its id, returns it in `X-Request-Id` and writes the request's log line. */
export function requestId(log: Log) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const given = request.get('x-request-id');
    request.requestId = given !== undefined && ACCEPTABLE.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', request.requestId);
    const started = performance.now();
    response.once('close', () => {
      const ms = Math.round((performance.now() - started) * 10) / 10;
      const { method, requestId: request_id } = request;
      log.request({ request_id, method, path: pathOf(request), status: response.statusCode, ms });
    });
    next();
  };
}
