import { Controller, RequestMethod, type Type, applyDecorators } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, Reflector } from '@nestjs/core';
import {
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  type ApiResponseNoStatusOptions,
  ApiTags,
  getSchemaPath,
  ApiCookieAuth,
  ApiSecurity,
} from '@nestjs/swagger';
import { type ErrorCode, CATALOGUE, ProblemError } from '../common/errors.js';
import { AUDIT_REASON, MAX_REASON } from '../http/request-headers.js';
import { Accepts, type FileRules } from '../http/input.guard.js';
import { ID, LOCATION, ENTITY_TAGS, describeHeader } from './shared-schemas.js';
import { isObject } from '../common/json.js';
import { ProblemDto, toProblemDto } from '../http/problem.js';

/**
 * The OpenAPI description of a route. Security, path and query parameters, request headers, response status and common
 * errors are derived from the other decorators of the route.
 */
export interface RouteDocs {
  description?: string;
  /** The successful response. A string is the description of a response without a body. */
  answer: string | ApiResponseNoStatusOptions;
  errors?: readonly ErrorCode[];
  body?: Type<unknown>;
  examples?: Readonly<Record<string, object>>;
  id?: { description?: string; example?: string };
  /** Description of the header `If-Match`. A route with this description also gets the response 412. */
  ifMatch?: string;
  /** Description of the header `If-None-Match`. A GET route with this description also gets the response 304. */
  ifNoneMatch?: string;
  /**
   * True for a route that changes nothing although its method is unsafe, such as POST. It takes no `Idempotency-Key`.
   */
  changesNothing?: true;
  security?: MethodDecorator;
  more?: readonly MethodDecorator[];
}

type NamedDocs = RouteDocs & { operationId: string; summary: string };

const reflector = new Reflector();
const Documented = Reflector.createDecorator<NamedDocs | undefined>();

/**
 * Describes a route.
 * @param operationId name of the method in generated clients. It must never change.
 */
export const DescribeRoute = (operationId: string, summary: string, docs: RouteDocs) =>
  Documented({ operationId, summary, ...docs });

type Headers = NonNullable<ApiResponseNoStatusOptions['headers']>;

export function describeJson(description: string, type: Type<unknown>, headers: Headers = {}) {
  return { description, type, headers };
}

export function describeCsv(description: string) {
  return { description, content: { 'text/csv': { schema: { type: 'string' } } } };
}

/**
 * OpenAPI extension with the scope that an API key needs. With `any`, the route accepts every valid key. With `full`, it
 * accepts only keys without scope limits. With `none`, it accepts no API keys.
 */
export const REQUIRED_SCOPE = 'x-required-scope';

/** OpenAPI extension that stores a request body with several media types until Swagger has built the document. */
export const REQUEST_BODY = 'x-request-body';

export const RequiredScope = Reflector.createDecorator<string | undefined>();

export const ApiController = (path: string, tag: string) =>
  applyDecorators(Controller(path), DescribeRoutes(tag, REST_CONVENTIONS));

/**
 * Functions that compute route descriptions. `applyRouteDocs` runs them later, because commands and worker processes
 * never need the descriptions.
 */
const pending: (() => void)[] = [];

/** Registers the described routes of a controller. `applyRouteDocs` later passes them to Swagger. */
export const DescribeRoutes =
  (tag: string, conventions: Conventions): ClassDecorator =>
  (controller) => {
    ApiTags(tag)(controller);
    ApiExtraModels(conventions.error)(controller);
    const { prototype } = controller as { prototype: object };
    for (const name of new MetadataScanner().getAllMethodNames(prototype)) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
      const handler: unknown = descriptor?.value;
      if (!descriptor || typeof handler !== 'function') continue;
      const docs = reflector.get(Documented, handler);
      if (!docs) continue;
      pending.push(() => {
        const described = describeRoute(readRoute(docs, controller, handler), conventions);
        for (const decorate of described) decorate(prototype, name, descriptor);
      });
    }
  };

export function applyRouteDocs(): void {
  for (const describe of pending.splice(0)) describe();
}

type Target = Parameters<ClassDecorator>[0];

function readRoute(docs: NamedDocs, controller: Target, handler: Target) {
  const path = [controller, handler].map((each) => reflector.get<string>(PATH_METADATA, each)).join('/');
  const method = reflector.get<RequestMethod>(METHOD_METADATA, handler);
  const status = reflector.get<number | undefined>(HTTP_CODE_METADATA, handler);
  const scope = reflector.get(RequiredScope, handler);
  const isUnsafe = method !== RequestMethod.GET;
  return {
    docs,
    ...reflector.get(Accepts, handler),
    id: /:((?:\w+_)?id)\b/.exec(path)?.[1],
    status: status ?? (method === RequestMethod.POST ? 201 : 200),
    scope,
    isUnsafe,
    isChange: isUnsafe && scope !== undefined && !docs.changesNothing,
  };
}
type Route = ReturnType<typeof readRoute>;

function describeRoute(route: Route, conventions: Conventions): MethodDecorator[] {
  const { docs, query, id, scope, isUnsafe, isChange } = route;
  const { operationId, summary, description, more = [], ifMatch, ifNoneMatch } = docs;
  return [
    ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...(id === undefined ? [] : [ApiParam({ name: id, type: String, ...ID, ...docs.id })]),
    ...(query ? [ApiQuery({ type: query })] : []),
    ...more,
    ...(ifMatch === undefined ? [] : [OptionalHeader('If-Match', ifMatch, ENTITY_TAGS)]),
    ...(ifNoneMatch === undefined ? [] : [OptionalHeader('If-None-Match', ifNoneMatch, ENTITY_TAGS)]),
    ...(isChange ? CHANGE_HEADERS : []),
    ...describeBody(route),
    ApiResponse(buildResponse(route)),
    ...(ifNoneMatch === undefined || isUnsafe ? [] : [NOT_MODIFIED]),
    ...(docs.security ? [docs.security] : conventions.getSecurity(scope)),
    ...(scope === undefined ? [] : [ApiExtension(REQUIRED_SCOPE, scope)]),
    ...describeErrors(listErrorCodes(route, conventions), conventions),
    ...(isChange ? (conventions.changeResponses ?? []) : []),
  ];
}

const NOT_MODIFIED = ApiResponse({
  status: 304,
  description: 'The record has not changed since the version in If-None-Match.',
});

function listErrorCodes(route: Route, conventions: Conventions) {
  const { docs, body, file, scope, id, isUnsafe, isChange } = route;
  return [
    ...(conventions.firstErrors ?? []),
    ...selectCodesIf(body, 'request_timeout', 'malformed_json', 'validation_failed'),
    ...selectCodesIf(body ?? file, 'too_large', 'unsupported_media_type'),
    ...selectCodesIf(scope, 'unauthenticated', 'forbidden'),
    ...selectCodesIf(isUnsafe, ...(conventions.unsafeErrors ?? [])),
    ...selectCodesIf(isChange, 'invalid_parameter', 'validation_failed'),
    ...selectCodesIf(id?.endsWith('_id'), 'malformed_uuid'),
    ...selectCodesIf(id, 'not_found'),
    ...selectCodesIf(docs.ifMatch, 'precondition_failed'),
    ...(docs.errors ?? []),
    ...selectCodesIf(scope, 'insufficient_scope', 'network_not_permitted'),
    ...selectCodesIf(scope, ...(conventions.sessionErrors ?? [])),
    ...conventions.lastErrors,
  ];
}

const selectCodesIf = (condition: unknown, ...codes: ErrorCode[]): ErrorCode[] => (condition ? codes : []);

function buildResponse({ docs: { answer }, status }: Route) {
  const response: ApiResponseNoStatusOptions = typeof answer === 'string' ? { description: answer } : answer;
  const { description = '', headers, ...rest } = response;
  const all = { ...((status === 201 || status === 202) && LOCATION), ...headers };
  const hasHeaders = Object.keys(all).length > 0;
  return { status, description, ...(hasHeaders && { headers: all }), ...rest };
}

function describeBody({ docs: { body, examples = {} }, file }: Route): MethodDecorator[] {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  const shown = named.length > 0 && { examples: Object.fromEntries(named) };
  if (file) {
    const json = body && { 'application/json': { schema: { $ref: getSchemaPath(body) }, ...shown } };
    const described = ApiExtension(REQUEST_BODY, describeFileBody(file, json));
    return body ? [ApiExtraModels(body) as MethodDecorator, described] : [described];
  }
  return body ? [ApiBody({ type: body, ...shown })] : [];
}

const describeFileBody = ({ type, maxBytes, description, example, parts }: FileRules, json: object = {}) => {
  const file = { type: 'string', format: 'binary', maxLength: maxBytes };
  const form = { schema: { type: 'object', properties: { ...parts, file }, required: ['file'] } };
  const text = { schema: { type: 'string', maxLength: maxBytes }, example };
  return { required: true, description, content: { [type]: text, 'multipart/form-data': form, ...json } };
};

const OptionalHeader = (name: string, description: string, schema: object) =>
  ApiHeader({ name, required: false, description, schema });

/** Request header that makes a change safe to repeat. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Maximum length of one percent-encoded character. */
const MAX_ENCODED_CHARACTER = 12;

const CHANGE_HEADERS = [
  OptionalHeader(
    IDEMPOTENCY_KEY,
    'Random key of 1 to 255 printable ASCII characters. Repeating the request with the same key within 24 hours returns the first response and changes nothing.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  ),
  OptionalHeader(
    AUDIT_REASON,
    `Reason for the change, recorded in the audit log. At most ${MAX_REASON} characters, percent-encoded as UTF-8.`,
    { type: 'string', maxLength: MAX_REASON * MAX_ENCODED_CHARACTER, pattern: '^[ -~]*$' },
  ),
];

/** Conventions of an API (REST or SCIM): credentials, error codes and error format. */
export interface Conventions {
  /** Returns the security decorators of a route. @param scope undefined for a public route. */
  getSecurity: (scope: string | undefined) => MethodDecorator[];
  /** Error codes of every route, listed before the codes of the route itself. */
  firstErrors?: readonly ErrorCode[];
  /** Error codes of every route, listed after the codes of the route itself. */
  lastErrors: readonly ErrorCode[];
  unsafeErrors?: readonly ErrorCode[];
  /** Errors of all routes that are not public. */
  sessionErrors?: readonly ErrorCode[];
  changeResponses?: readonly MethodDecorator[];
  error: Type<unknown>;
  mediaType: string;
  buildExample: (code: ErrorCode) => { status: number | string };
  /**
   * Names of members of the error body. The document lists their possible values for each status. The last member
   * identifies the error.
   */
  restrictedMembers: readonly string[];
}

const CHALLENGE = describeHeader('WWW-Authenticate', 'The credentials that the service accepts.', {
  maxLength: 255,
});
const SECONDS = { type: 'integer', minimum: 1, maximum: 3600 };
const RETRY = describeHeader('Retry-After', 'Seconds to wait before the next attempt.', SECONDS);

function describeErrors(codes: readonly ErrorCode[], conventions: Conventions): MethodDecorator[] {
  const { error, mediaType, buildExample, restrictedMembers } = conventions;
  const examples = [...new Set(codes)].map((code) => ({ code, example: buildExample(code) }));
  const byStatus = Map.groupBy(examples, ({ example }) => Number(example.status));
  return [...byStatus].map(([status, own]) => {
    const collectValues = (member: string) => own.flatMap(({ example }) => getText(example, member) ?? []);
    const names = own.map(({ code, example }) => getText(example, restrictedMembers.at(-1) ?? '') ?? code);
    const isRetry = status === 429 || status === 503;
    const headers = names.includes('unauthenticated') ? CHALLENGE : isRetry && RETRY;
    const values = Object.fromEntries(restrictedMembers.map((member) => [member, collectValues(member)]));
    return ApiResponse({
      status,
      description: names.join(', '),
      ...(headers && { headers }),
      content: { [mediaType]: { schema: restrictSchema(error, values), example: own[0]?.example } },
    });
  });
}

function getText(example: object, member: string): string | undefined {
  const value = isObject(example) ? example[member] : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function restrictSchema(type: Type<unknown>, values: Readonly<Record<string, readonly string[]>>) {
  const properties: Record<string, object> = {};
  for (const [name, list] of Object.entries(values))
    if (list.length > 0) properties[name] = { type: 'string', enum: [...new Set(list)] };
  return { allOf: [{ $ref: getSchemaPath(type) }, { type: 'object', properties }] };
}

/** Error codes that every route can return. They come last in the error list of a route. */
export const COMMON_ERRORS = [
  'rate_limited',
  'internal',
  'unavailable',
  'database_replaced',
  'outcome_unknown',
] as const;

/** Additional members of the example errors, by status. */
const EXTRAS: Readonly<Record<number, ProblemError['extras']>> = {
  409: { conflicts: [{ field: 'username', uuid: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }] },
  422: { errors: [{ field: 'email', code: 'invalid_format', message: 'must be an e-mail address' }] },
};

const REST_CONVENTIONS: Conventions = {
  getSecurity: (scope) => {
    if (scope === undefined) return [ApiSecurity({})]; // the empty requirement states that the route needs no credentials
    return scope === 'none' ? [ApiCookieAuth('session')] : [ApiSecurity('api_key'), ApiCookieAuth('session')];
  },
  firstErrors: ['invalid_parameter'],
  lastErrors: COMMON_ERRORS,
  unsafeErrors: ['cross_site'],
  sessionErrors: ['password_change_required'],
  error: ProblemDto,
  mediaType: 'application/problem+json',
  buildExample: (code) => {
    const { remedy, status } = CATALOGUE[code];
    const error = new ProblemError(code, remedy, EXTRAS[status]);
    return toProblemDto(error, '/api/0.3/users', '4f0c1a52-6a2c-4d0c-9a0e-2f6f3f9f1a11');
  },
  restrictedMembers: ['code'],
};
