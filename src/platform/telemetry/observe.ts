import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { holdsSecret } from '../common/secrets.js';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;
/** The id is logged and stored as it is: one that looks like a credential is none. */
const isAcceptable = (id: string): boolean => ACCEPTABLE.test(id) && !holdsSecret(id);

/** How a request ended: the status of a whole answer, or `aborted` where the client broke off before it had all of it. */
export type Outcome = number | 'aborted';

/** Is called after every answer. */
export interface Observer {
  /** The answer is sent, or the client has disconnected. @param ms since the request arrived. */
  answered(request: Request, response: Response, ms: number, outcome: Outcome): void;
}

/**
 * Gives every request its id, returns it in `X-Request-Id`, and calls the observers after the answer. They share one
 * listener, because each listener costs a request as much as a route does.
 */
export function observe(...observers: readonly Observer[]): (request: Request, response: Response) => void {
  return (request, response) => {
    const sent = request.headers['x-request-id'];
    request.requestId = typeof sent === 'string' && isAcceptable(sent) ? sent : randomUUID();
    response.setHeader('X-Request-Id', request.requestId);
    const started = performance.now();
    response.on('close', () => {
      const ms = performance.now() - started;
      const outcome = outcomeOf(request, response);
      for (const observer of observers) observer.answered(request, response, ms, outcome);
    });
  };
}

/** The status of an answer that the service itself cut off, because it failed half-way. */
const CUT = 500;

/**
 * Node.js takes the socket from an answer when the last byte of it has been handed over, and never where the connection
 * ends first. (A request whose body was not read to its end may have lost its own.) An error of the answer itself comes from
 * the service, which destroyed it; those of the client end the socket.
 */
function outcomeOf({ socket }: { socket: Socket | null }, response: Response): Outcome {
  if (response.errored) return CUT;
  return response.socket === null && !socket?.errored ? response.statusCode : 'aborted';
}

/** The whole path as the client sent it. Inside a router, `request.path` lacks the path that the router is mounted on. */
export function pathOf(request: Request): string {
  const target = request.originalUrl || request.url; // Express sets the first, which not every request reaches
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}
