import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { getPath } from '../telemetry/observe.js';
import { ProblemError } from '../common/errors.js';
import { maskSecrets } from '../common/secrets.js';
import { Log } from '../telemetry/log.js';
import { toProblemDto, toProblemError } from './problem.js';
import { acceptsOnlyJson } from './request-headers.js';

/** An error format that replaces problem details for one path prefix. */
export interface ErrorFormat {
  appliesTo(path: string): boolean;
  toResponse(error: ProblemError): { status: number; headers?: Record<string, string>; body: object };
  readonly mediaType: string;
}

/** Turns every thrown value into problem details (RFC 9457), and logs server errors with their stack. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly formats: ErrorFormat[] = [];

  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.sendError(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  sendError(thrown: unknown, request: Request, response: Response): void {
    if (thrown instanceof ReplayedResponseError) {
      sendReplay(thrown.storedResponse, response);
      return;
    }
    // If the request was incomplete or late, the server has already rejected it.
    if (response.writableEnded) return;
    // Ignores the disconnect of the client. An error code cannot identify this error, because a database connection can
    // also fail with ECONNRESET.
    if (thrown !== undefined && thrown === request.errored) return;
    const error = toProblemError(thrown);
    if (error.status >= 500 && error.code !== 'not_implemented')
      this.log.logFault(request.requestId, error.code, thrown);
    if (response.headersSent) {
      response.destroy(error); // closes the connection, so that the client does not take the partial response for a complete one
      return;
    }
    const path = getPath(request);
    const form = this.formats.find((each) => each.appliesTo(path));
    const problem = toProblemDto(error, path, request.requestId);
    const { status, headers, body } = form?.toResponse(error) ?? { status: problem.status, body: problem };
    response.status(status).set({ ...error.extras.headers, ...headers });
    if (!form) response.vary('Accept');
    const mediaType = form?.mediaType ?? 'application/problem+json';
    response
      .set('Content-Type', acceptsOnlyJson(request) ? 'application/json' : mediaType)
      .send(maskSecrets(JSON.stringify(body)));
  }
}

function sendReplay({ status, headers, body }: StoredResponse, response: Response): void {
  response.status(status).set(REPLAYED_HEADER, 'true');
  if (body !== '' && !response.hasHeader('Content-Type'))
    response.set('Content-Type', 'application/json; charset=utf-8');
  response.set(headers).end(body);
}

export interface StoredResponse {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** JSON text. Empty if the response has no body. */
  body: string;
}

/** Thrown for a repeated idempotent request. `ErrorFilter` sends the stored response again. */
export class ReplayedResponseError extends Error {
  constructor(readonly storedResponse: StoredResponse) {
    super('This request has already been answered.');
    this.name = 'ReplayedResponseError';
  }
}

/** Response header that marks the response to an earlier request with the same `Idempotency-Key`. */
export const REPLAYED_HEADER = 'Idempotency-Replayed';
