import { type CanActivate, type ExecutionContext, Injectable, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { ProblemError } from '../common/errors.js';
import type { InputClass } from '../common/fields.js';
import { readInput } from '../input/read-input.js';
import { canonicalUuid } from '../common/uuid.js';
import { asksForPlainJson } from './request-headers.js';
import { BodyBudget, BodyReader, type BodyRules, UPLOAD_BYTES } from './body-reader.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The query, as an instance of the class that the route names. */
    checkedQuery: object;
  }
}

interface Accepted {
  /** The body is a JSON object, within the usual limits or those of this route. */
  body?: true | Partial<BodyRules>;
  /** The body is a file, which the route reads itself. */
  file?: FileRules;
  /** The class of the query parameters; none are accepted when unset. */
  query?: InputClass<object>;
  /** Query parameters that nobody knows are ignored; the route reads the others itself (SCIM), or the browser does (the console). */
  anyQuery?: true;
  /** The media type of the response, unless `Accept` names JSON alone. JSON when unset. */
  responseType?: string;
}

/** For routes without query parameters. */
class NoQuery {
  readonly none = true;
}

/** The input of a route, and the type of its response. Without it no body is read, and any query parameter is an error. */
export const Accepts = Reflector.createDecorator<Accepted | undefined>();

/** The query as an instance of the class that `Accepts` names. */
export const CheckedQuery = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().checkedQuery,
);

/**
 * The syntax of a request, checked after the credentials and before the permission: media type and size, JSON,
 * path identifiers, query. The fields of a body are checked later, after the record is known to exist.
 */
@Injectable()
export class InputGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly bodies: BodyReader,
    private readonly budget: BodyBudget,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const { body, file, query, anyQuery, responseType } =
      this.reflector.get(Accepts, context.getHandler()) ?? {};
    if (responseType) setResponseType(request, response, responseType);
    if (body) request.body = await this.bodies.readJson(request, response, body === true ? {} : body);
    if (file) this.admitFile(request, response, file);
    for (const name in request.params) {
      if (name.endsWith('_id')) request.params[name] = canonicalUuid(name, String(request.params[name]));
    }
    if (query || anyQuery || request.url.includes('?'))
      request.checkedQuery = anyQuery ? request.query : readQuery(query ?? NoQuery, request.query);
    return true;
  }

  private admitFile(request: Request, response: Response, rules: FileRules): void {
    assertFile(request, rules);
    this.budget.take(response, UPLOAD_BYTES);
  }
}

/** Called before the idempotency guard repeats a response: its type is that of this request, and no part of the first response. */
function setResponseType(request: Request, response: Response, type: string): void {
  const accepted = asksForPlainJson(request) ? 'application/json' : type;
  response.setHeader('Content-Type', `${accepted}; charset=utf-8`);
}

function readQuery(type: InputClass<object>, query: Request['query']): object {
  const { value, errors } = readInput(type, query);
  if (errors.length === 0) return value;
  const detail = errors.map(({ field, code, message }) =>
    code === 'unknown_field' ? `${field} is not a query parameter here` : `${field} ${message}`,
  );
  throw new ProblemError('invalid_parameter', `${detail.join('; ')}.`);
}

/** The files that a route accepts. */
export interface FileRules {
  /** Media type of the file when it is the body itself; it may also come as `multipart/form-data`. */
  type: string;
  maxBytes: number;
  /** What the OpenAPI file says of it. */
  description?: string;
  example?: string;
}

/** Boundaries and part headers of a multipart body. */
export const MULTIPART_EXTRA = 64 * 1024;

/**
 * Checks the rules of a file against the headers of its request.
 * @throws ProblemError `unsupported_media_type`, `too_large`.
 */
function assertFile(request: Request, { type, maxBytes }: FileRules): void {
  if (!request.is(type) && !isMultipart(request)) {
    throw new ProblemError('unsupported_media_type', `Send the file as ${type} or multipart/form-data.`);
  }
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported_media_type', 'Send the file as it is, without a Content-Encoding.');
  }
  if (Number(request.get('content-length') ?? 0) > maxBytes + (isMultipart(request) ? MULTIPART_EXTRA : 0)) {
    throw new ProblemError('too_large', `The file has more than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);
  }
}

export function isMultipart(request: Request): boolean {
  return Boolean(request.is('multipart/form-data'));
}
