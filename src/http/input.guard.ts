import { type CanActivate, type ExecutionContext, Injectable, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request, type Response, raw } from 'express';
import { Env } from '../config/env.js';
import { ProblemError } from '../common/errors.js';
import { type JsonObject, isObject, jsonDepth } from '../common/json.js';
import type { InputClass } from '../common/fields.js';
import { readInput } from '../input/read-input.js';
import { type FileRules, assertFile } from './file-body.js';
import { canonicalUuid } from '../common/uuid.js';

const MAX_BYTES = 1024 * 1024;
/** Deeper than anything in the interface, and shallow enough for any code that walks a value. */
const MAX_DEPTH = 32;
const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-?8"?\s*)?$/i;

const readBytes = raw({ limit: MAX_BYTES, type: () => true });

declare module 'express-serve-static-core' {
  interface Request {
    /** The query, as an instance of the class that the route names. */
    checkedQuery: object;
  }
}

interface Accepted {
  /** The body is a JSON object. */
  body?: boolean;
  /** The body is a file, which the route reads itself. */
  file?: FileRules;
  /** The class of the query parameters; none are accepted when unset. */
  query?: InputClass<object>;
}

/** For routes without query parameters. */
class NoQuery {
  readonly none = true;
}

/** The body and the query that a route accepts. Without it no body is read, and any query parameter is an error. */
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
    private readonly env: Env,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { body, file, query } = this.reflector.get(Accepts, context.getHandler()) ?? {};
    if (body) {
      const response = http.getResponse<Response>();
      request.body = await readJsonBody(request, response, this.env.REQUEST_TIMEOUT_SECONDS);
    }
    if (file) assertFile(request, file);
    for (const name in request.params) {
      if (name.endsWith('_id')) request.params[name] = canonicalUuid(name, String(request.params[name]));
    }
    if (query || request.url.includes('?')) request.checkedQuery = readQuery(query ?? NoQuery, request.query);
    return true;
  }
}

function readQuery(type: InputClass<object>, query: Request['query']): object {
  const { value, errors } = readInput(type, query);
  if (errors.length === 0) return value;
  const detail = errors.map(({ field, code, message }) =>
    code === 'unknown_field' ? `${field} is not a query parameter here` : `${field} ${message}`,
  );
  throw new ProblemError('invalid_parameter', `${detail.join('; ')}.`);
}

/**
 * The JSON object in a request's body.
 * @throws ProblemError `unsupported_media_type`, `too_large` (over 1 MiB), `malformed_json`, `request_timeout`.
 */
async function readJsonBody(
  request: Request,
  response: Response,
  timeoutSeconds: number,
): Promise<JsonObject> {
  const hasBody =
    'transfer-encoding' in request.headers || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw new ProblemError('malformed_json', 'The request has no body; a JSON object is needed.');
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported_media_type', 'The body must be sent as application/json, in UTF-8.');
  }
  return parse(decode(await bytes(request, response, timeoutSeconds)));
}

async function bytes(request: Request, response: Response, timeoutSeconds: number): Promise<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => {
      response.setHeader('Connection', 'close'); // the rest of the body is not a request
      reject(new ProblemError('request_timeout', `The body did not arrive in ${timeoutSeconds} seconds.`));
    }, timeoutSeconds * 1000);
    readBytes(request, response, (error?: unknown) => {
      if (error) reject(toBodyError(error));
      else resolve();
    });
  }).finally(() => {
    clearTimeout(timer);
  });
  const body: unknown = request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
}

function toBodyError(error: { type?: string }): ProblemError {
  if (error.type === 'entity.too.large') {
    return new ProblemError('too_large', 'The body has more than 1 MiB.');
  }
  if (error.type === 'encoding.unsupported') {
    return new ProblemError(
      'unsupported_media_type',
      'The Content-Encoding must be gzip, deflate, br or identity.',
    );
  }
  return new ProblemError('malformed_json', 'The body broke off or could not be unpacked.');
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid UTF-8.');
  }
}

function parse(text: string): JsonObject {
  if (jsonDepth(text) > MAX_DEPTH) {
    throw new ProblemError('malformed_json', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProblemError('malformed_json', `The body is not valid JSON${position(error)}.`);
  }
  if (!isObject(value)) throw new ProblemError('malformed_json', 'The body must be a JSON object.');
  return value;
}

/** Where the parser stopped; the rest of its message quotes the body, which may hold a password. */
function position(error: unknown): string {
  const found = /position \d+/.exec(error instanceof Error ? error.message : '');
  return found ? ` (at ${found[0]})` : '';
}
