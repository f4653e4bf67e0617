import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { pathOf } from '../telemetry/observe.js';
import { ProblemError } from '../common/errors.js';
import { isObject } from '../common/json.js';
import { Log } from '../telemetry/log.js';
import { FirstAnswer, REPLAYED, type SentAnswer } from './first-answer.js';
import { toProblem, toProblemError } from './problem.js';

/** This media type alone, with any parameters and weight. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/** Answers any thrown value as problem details (RFC 9457); a fault of the service is logged with its stack. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  answer(thrown: unknown, request: Request, response: Response): void {
    if (thrown instanceof FirstAnswer) {
      replay(thrown.answer, response);
      return;
    }
    if (response.writableEnded) return; // the server has answered: the request did not arrive in full, or not in time
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

function replay({ status, headers, body }: SentAnswer, response: Response): void {
  response.status(status).set(REPLAYED, 'true');
  if (body !== '') response.set('Content-Type', 'application/json; charset=utf-8');
  response.set(headers).end(body);
}

/** A path that exists with other methods is `method_not_allowed`, not `not_found`. */
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

/** The part of an Express layer with its path and methods. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** The methods of the request's path, in capitals; empty where the path does not exist. */
function allowedMethods(request: Request): string[] {
  const layers: unknown[] = request.app.router.stack;
  const stack = layers.filter(isLayer);
  const path = pathOf(request);
  const matching = stack.filter((layer) => layer.route && !isFallback(layer.route) && matches(layer, path));
  // `/users/me` is not `/users/:user_id`.
  const literal = matching.filter(({ route }) => !route?.path.includes(':'));
  const served = literal.length > 0 ? literal : matching;
  const names = new Set(
    served.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map((name) => name.toUpperCase()),
  );
  if (names.has('GET')) names.add('HEAD');
  return [...names].sort();
}

const isLayer = (value: unknown): value is Layer => isObject(value) && typeof value['match'] === 'function';

/** Nest's own layers around unprefixed routes serve every method; no route of ours serves TRACE. */
function isFallback(route: { methods: Record<string, boolean> }): boolean {
  return 'trace' in route.methods;
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a broken percent-encoding
  }
}
