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
} from '@nestjs/swagger';
import type { ErrorCode } from '../common/errors.js';
import { AUDIT_REASON, MAX_REASON } from '../http/request-headers.js';
import { Accepts, type FileRules } from '../http/input.guard.js';
import { ID, LOCATION, ENTITY_TAGS, type createLinks } from './shared-schemas.js';
import { type Conventions, REST_CONVENTIONS, describeErrors } from './error-docs.js';

/**
 * The OpenAPI description of a route. Security, path and query parameters, request headers, response status and common
 * errors are derived from the other decorators of the route.
 */
export interface RouteDocs {
  description?: string;
  /** The successful response. A string is the description of a response without a body. */
  answer: string | ApiResponseNoStatusOptions;
  links?: ReturnType<typeof createLinks>;
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
    ...(id === undefined ? [] : [ApiParam({ name: id, ...ID, ...docs.id })]),
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

function buildResponse({ docs: { answer, links }, status }: Route) {
  const response: ApiResponseNoStatusOptions = typeof answer === 'string' ? { description: answer } : answer;
  const { description = '', headers, ...rest } = response;
  const all = { ...((status === 201 || status === 202) && LOCATION), ...headers };
  const hasHeaders = Object.keys(all).length > 0;
  return { status, description, ...(hasHeaders && { headers: all }), ...(links && { links }), ...rest };
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
