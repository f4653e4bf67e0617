import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { pathOf } from '../telemetry/observe.js';
import { CATALOGUE, ProblemError } from '../common/errors.js';
import { withoutSecrets } from '../common/secrets.js';
import { Log } from '../telemetry/log.js';
import { type ProblemDto, toProblem, toProblemError } from './problem.js';
import { allowedMethods } from './lean.adapter.js';
import { asksForPlainJson } from './request-headers.js';
import { PAGE_POLICY, htmlPage, markup, prose } from './html-page.js';

/** How errors below some path are written where that is not as problem details. */
export interface ErrorForm {
  /** Whether the path is below it. */
  holds(path: string): boolean;
  write(
    error: ProblemError,
    request: Request,
  ): { status: number; headers?: Record<string, string>; body: object };
  readonly type: string;
}

/** Answers any thrown value as problem details (RFC 9457); a fault of the service is logged with its stack. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly forms: ErrorForm[] = [];

  constructor(private readonly log: Log) {}

  /** Errors below a path get another form from now on. */
  writeAs(form: ErrorForm): void {
    this.forms.push(form);
  }

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
    // By origin, not by code: an ECONNRESET of a database is another matter. Nobody is left to be answered.
    if (thrown !== undefined && thrown === request.errored) return;
    const error = withMethods(thrown, request);
    if (error.status >= 500 && error.code !== 'not_implemented')
      this.log.fault(request.requestId, error.code, thrown);
    if (response.headersSent) {
      response.destroy(error); // the answer cannot become another one; as it is, no client takes it for whole
      return;
    }
    const path = pathOf(request);
    const form = this.forms.find((each) => each.holds(path));
    if (form) {
      sendAs(form, error, request, response);
      return;
    }
    const problem = toProblem(error, path, request.requestId);
    response
      .status(error.status)
      .vary('Accept')
      .set(error.extras.headers ?? {});
    if (asksForPage(request)) {
      sendProblemPage(response, error, problem);
      return;
    }
    response
      .set('Content-Type', asksForPlainJson(request) ? 'application/json' : 'application/problem+json')
      .send(withoutSecrets(JSON.stringify(problem)));
  }
}

function sendAs(form: ErrorForm, error: ProblemError, request: Request, response: Response): void {
  const { status, headers, body } = form.write(error, request);
  response
    .status(status)
    .set({ ...error.extras.headers, ...headers })
    .set('Content-Type', asksForPlainJson(request) ? 'application/json' : form.type)
    .send(withoutSecrets(JSON.stringify(body)));
}

function replay({ status, headers, body }: SentAnswer, response: Response): void {
  response.status(status).set(REPLAYED, 'true');
  if (body !== '' && !response.hasHeader('Content-Type'))
    response.set('Content-Type', 'application/json; charset=utf-8');
  response.set(headers).end(body);
}

/** A path that exists with other methods is `method_not_allowed`, whatever else the router says of it. */
function withMethods(thrown: unknown, request: Request): ProblemError {
  const error = toProblemError(thrown);
  if (thrown instanceof ProblemError || error.status >= 500) return error; // a route has had the request
  const methods = allowedMethods(request);
  if (methods.length === 0 || methods.includes(request.method)) return error;
  const allow = methods.join(', ');
  return new ProblemError('method_not_allowed', `${request.method} is not possible here; use ${allow}.`, {
    headers: { Allow: allow },
  });
}

const JSON_FORMS = ['application/problem+json', 'application/json'];

/** Whether the client would rather have a page: a browser that shows an address does, one that runs a script does not. */
export function asksForPage(request: Request): boolean {
  return request.accepts([...JSON_FORMS, 'text/html']) === 'text/html';
}

/** A problem for people: what it is, what to do about it, and the request id to ask with. */
function sendProblemPage(response: Response, { code }: ProblemError, problem: ProblemDto): void {
  const { title, detail, status, type, errors = [], request_id: id } = problem;
  const faults = errors.map(({ field, message }) => markup`<li><code>${field}</code> ${message}</li>`);
  const body = markup`<h1>${title}</h1><p>${detail}</p>
${faults.length > 0 ? markup`<ul>${faults}</ul>` : ''}
<p>${prose(CATALOGUE[code].remedy)}</p>
<p>HTTP status ${status}, <a href="${type}"><code>${code}</code></a>, request <code>${id}</code></p>
<p><a href="/">Rollcall</a></p>`;
  const page = withoutSecrets(htmlPage(title, body));
  response.type('html').set('Content-Security-Policy', PAGE_POLICY).send(page);
}

/** An answer as it went out. */
export interface SentAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** JSON, or nothing. */
  body: string;
}

/** Thrown where a request turns out to be a repetition: `ErrorFilter` answers it as it was answered before. */
export class FirstAnswer extends Error {
  constructor(readonly answer: SentAnswer) {
    super('This request has been answered before.');
    this.name = 'FirstAnswer';
  }
}

/** Tells a client that this is the answer to an earlier request with its `Idempotency-Key`. */
export const REPLAYED = 'Idempotency-Replayed';
