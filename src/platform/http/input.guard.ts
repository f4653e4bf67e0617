import { type CanActivate, type ExecutionContext, Injectable, createParamDecorator } from '@nestjs/common';
import { type ReflectableDecorator, Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { type FieldError, ProblemError } from '../common/errors.js';
import type { InputClass } from '../common/fields.js';
import { readInput } from '../input/read-input.js';
import { toCanonicalUuid } from '../common/uuid.js';
import { acceptsOnlyJson } from './request-headers.js';
import { BodyBudget, BodyReader, type BodyRules, UPLOAD_BYTES, createMediaTypeError } from './body-reader.js';

declare module 'express-serve-static-core' {
  interface Request {
    checkedQuery: object;
  }
}

interface AcceptedInput {
  /** Accepts a JSON object as the body, with the default limits or the route's own limits. */
  body?: true | Partial<BodyRules>;
  /** Accepts a file as the body. The route reads the file itself. With `body`, the route accepts a file or JSON. */
  file?: FileRules;
  /** Class of the query parameters. When unset, the route accepts no query parameters. */
  query?: InputClass<object>;
  /** Accepts any query without validation. SCIM routes and the console read their parameters themselves. */
  anyQuery?: true;
  /**
   * Media type of the response. Clients that accept only plain JSON get `application/json` instead. Default: JSON.
   */
  responseType?: string;
}

const JSON_TYPE = /^application\/json\b/i;

class NoQuery {
  readonly none = true;
}

/**
 * Declares the input and the response type of a route. Without this decorator the body is not read, and every query
 * parameter is an error.
 */
export const Accepts = Reflector.createDecorator<AcceptedInput | undefined>();

export const readAccepted = createDecoratorReader(Accepts);

/** Returns a function that reads the value of a decorator of a route or controller. */
export function createDecoratorReader<T>(decorator: ReflectableDecorator<never, T>) {
  return (target: object) => Reflect.getMetadata(decorator.KEY, target) as T | undefined;
}

export const CheckedQuery = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().checkedQuery,
);

/**
 * Checks the syntax of a request after authentication and before authorization: media type, size, JSON, path ids and
 * query. It does not validate the fields of the body.
 */
@Injectable()
export class InputGuard implements CanActivate {
  constructor(
    private readonly bodies: BodyReader,
    private readonly budget: BodyBudget,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const { body, file, query, anyQuery, responseType } = readAccepted(context.getHandler()) ?? {};
    if (responseType) {
      // Set before the route runs, because a replayed response takes its media type from this request.
      const type = acceptsOnlyJson(request) ? 'application/json' : responseType;
      response.setHeader('Content-Type', `${type}; charset=utf-8`);
    }
    const isFile = file !== undefined && !(body && JSON_TYPE.test(request.get('content-type') ?? ''));
    if (body && !isFile)
      request.body = await this.bodies.readJson(request, response, body === true ? {} : body);
    if (isFile) {
      assertFileHeaders(request, file);
      this.budget.reserve(response, UPLOAD_BYTES);
    }
    for (const name in request.params) {
      if (name.endsWith('_id')) request.params[name] = toCanonicalUuid(name, String(request.params[name]));
    }
    if (query || anyQuery || request.url.includes('?'))
      request.checkedQuery = anyQuery ? request.query : readQuery(query ?? NoQuery, request.query);
    return true;
  }
}

function readQuery(type: InputClass<object>, query: Request['query']): object {
  const { value, errors } = readInput(type, query);
  if (errors.length === 0) return value;
  throw createParameterError(errors, 'is an unknown query parameter');
}

/** @param unknown message for an unknown parameter. */
export function createParameterError(errors: readonly FieldError[], unknown: string): ProblemError {
  const faults = errors.map(({ field, code, message }) => {
    return `${field} ${code === 'unknown_field' ? unknown : message}`;
  });
  return new ProblemError('invalid_parameter', `${faults.join('; ')}.`);
}

export interface FileRules {
  /** Media type of a file that is the whole body. A file may also be part of `multipart/form-data`. */
  type: string;
  maxBytes: number;
  description?: string;
  example?: string;
  /** Schemas of further parts of a form, by name. */
  parts?: Readonly<Record<string, object>>;
}

/** Bytes allowed for boundaries and part headers of a multipart body. */
export const MULTIPART_OVERHEAD = 64 * 1024;

/**
 * Validates the headers of an upload.
 * @throws ProblemError `unsupported_media_type`, `too_large`.
 */
function assertFileHeaders(request: Request, { type, maxBytes }: FileRules): void {
  if (!request.is(type) && !isMultipart(request))
    throw createMediaTypeError(`Unsupported Content-Type. Send the file as ${describeTypes(type)}.`);
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw createMediaTypeError('File uploads do not support Content-Encoding. Send the file uncompressed.');
  const most = maxBytes + (isMultipart(request) ? MULTIPART_OVERHEAD : 0);
  if (Number(request.get('content-length') ?? 0) > most)
    throw new ProblemError('too_large', `The file is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);
}

const describeTypes = (type: string): string => [...new Set([type, 'multipart/form-data'])].join(' or ');

export function isMultipart(request: Request): boolean {
  return Boolean(request.is('multipart/form-data'));
}
