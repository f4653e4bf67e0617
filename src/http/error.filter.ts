import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { pathOf } from '../telemetry/observe.js';
import { allowedMethods } from './routes.js';
import { ProblemError } from '../common/errors.js';
import { Log } from '../telemetry/log.js';
import { toProblem, toProblemError } from './problem.js';

/** That one media type, whatever its parameters and weight are. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/** Turns whatever is thrown into the one form of error answer; a fault of ours is logged with its stack. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  answer(thrown: unknown, request: Request, response: Response): void {
    const error = withMethods(toProblemError(thrown), request);
    if (error.status >= 500) this.log.fault(request.requestId, error.code, thrown);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = toProblem(error, pathOf(request), request.requestId);
    response
      .status(error.status)
      .set(error.extras.headers ?? {})
      .set('Content-Type', asksForPlainJson(request) ? 'application/json' : 'application/problem+json')
      .send(JSON.stringify(problem));
  }
}

/** A path that exists with other methods is not "not found". */
function withMethods(error: ProblemError, request: Request): ProblemError {
  if (error.code !== 'not_found') return error;
  const methods = allowedMethods(request);
  if (methods.length === 0 || methods.includes(request.method)) return error;
  const allow = methods.join(', ');
  return new ProblemError('method_not_allowed', `${request.method} is not possible here; use ${allow}.`, {
    headers: { Allow: allow },
  });
}

function asksForPlainJson(request: Request): boolean {
  return PLAIN_JSON.test(request.headers.accept ?? '');
}
