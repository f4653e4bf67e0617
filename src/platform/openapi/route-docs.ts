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
} from '@nestjs/swagger';
import type { ErrorCode } from '../common/errors.js';
import { AUDIT_REASON, MAX_REASON } from '../http/request-headers.js';
import { Accepts, type FileRules } from '../http/input.guard.js';
import { ID, LOCATION, TAGS, type linkTo } from './docs.js';
import { type Conventions, REST, describeErrors } from './error-docs.js';

/**
 * The OpenAPI description of a route. What its other decorators declare is derived from them: security, parameters of path
 * and query, headers of a change, the status of the answer, and the errors that follow from these.
 */
export interface RouteDocs {
  description?: string;
  /** The answer, with the status of the route. A text describes one without a body. */
  answer: string | ApiResponseNoStatusOptions;
  links?: ReturnType<typeof linkTo>;
  /** Error codes of this route alone. */
  errors?: readonly ErrorCode[];
  /** The class of the JSON body, and examples of it by name. */
  body?: Type<unknown>;
  examples?: Readonly<Record<string, object>>;
  /** Overrides the schema of the id in the path. */
  id?: { description?: string; example?: string };
  /** Descriptions of these headers. With `ifMatch` the route answers 412, with `ifNoneMatch` a GET answers 304. */
  ifMatch?: string;
  ifNoneMatch?: string;
  /** Marks an unsafe method that changes nothing, and takes no `Idempotency-Key`. */
  changesNothing?: true;
  /** Credentials other than those that `Requires` implies. */
  security?: MethodDecorator;
  /** Further decorators of Swagger. */
  more?: readonly MethodDecorator[];
}

type NamedDocs = RouteDocs & { operationId: string; summary: string };

const reflector = new Reflector();
const Documented = Reflector.createDecorator<NamedDocs | undefined>();

/** Describes a route. @param operationId the name that generated clients call, chosen by hand and never changed. */
export const Doc = (operationId: string, summary: string, docs: RouteDocs) =>
  Documented({ operationId, summary, ...docs });

type Headers = NonNullable<ApiResponseNoStatusOptions['headers']>;

/** An answer with a JSON body. */
export const describeJson = (description: string, type: Type<unknown>, headers: Headers = {}) => ({
  description,
  type,
  headers,
});

/** An answer of text that is sent while it is generated: its length is unknown. */
export const describeCsv = (description: string) => ({
  description,
  content: { 'text/csv': { schema: { type: 'string' } } },
});

/** Extension of an operation: the scope that an API key needs, `any` for any valid key, `full` for a key without scopes, `none` where keys are refused. */
export const REQUIRED_SCOPE = 'x-required-scope';

/** Extension of an operation that holds a request body of several media types until Swagger has built the document. */
export const REQUEST_BODY = 'x-request-body';

/** A route that needs credentials, with its `REQUIRED_SCOPE`. */
export const RequiredScope = Reflector.createDecorator<string | undefined>();

/** A controller of the REST API: its path, the tag of its routes, and their OpenAPI descriptions. */
export const ApiController = (path: string, tag: string) =>
  applyDecorators(Controller(path), DescribesRoutes(tag, REST));

/** Descriptions that no document has needed yet. Commands and worker processes need none. */
const pending: (() => void)[] = [];

/** Derives the descriptions of the routes of a controller that have a `Doc`, once `describeRoutes` is called. */
export const DescribesRoutes =
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

/** Gives Swagger the descriptions of all routes. */
export function describeRoutes(): void {
  for (const describe of pending.splice(0)) describe();
}

type Target = Parameters<ClassDecorator>[0];

/** Reads what a handler and its controller declare about a route. */
function readRoute(docs: NamedDocs, controller: Target, handler: Target) {
  const path = [controller, handler].map((each) => reflector.get<string>(PATH_METADATA, each)).join('/');
  const method = reflector.get<RequestMethod>(METHOD_METADATA, handler);
  const status = reflector.get<number | undefined>(HTTP_CODE_METADATA, handler);
  const scope = reflector.get(RequiredScope, handler);
  const isUnsafe = method !== RequestMethod.GET;
  return {
    docs,
    ...reflector.get(Accepts, handler),
    /** The name of the id in the path. */
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
    ...(ifMatch === undefined ? [] : [OptionalHeader('If-Match', ifMatch, TAGS)]),
    ...(ifNoneMatch === undefined ? [] : [OptionalHeader('If-None-Match', ifNoneMatch, TAGS)]),
    ...(isChange ? CHANGE_HEADERS : []),
    ...bodyOf(route),
    ApiResponse(answerOf(route)),
    ...(ifNoneMatch === undefined || isUnsafe ? [] : [NOT_MODIFIED]),
    ...(docs.security ? [docs.security] : conventions.securityOf(scope)),
    ...(scope === undefined ? [] : [ApiExtension(REQUIRED_SCOPE, scope)]),
    ...describeErrors(codesOf(route, conventions), conventions),
    ...(isChange ? (conventions.ofChange ?? []) : []),
  ];
}

const NOT_MODIFIED = ApiResponse({ status: 304, description: 'Not changed since.' });

/** The error codes of a route: those of the guards, those that follow from its input, and its own. */
function codesOf({ docs, body, file, scope, id, isUnsafe, isChange }: Route, conventions: Conventions) {
  return [
    ...(conventions.first ?? []),
    ...codesIf(body, 'request_timeout', 'malformed_json', 'validation_failed'),
    ...codesIf(body ?? file, 'too_large', 'unsupported_media_type'),
    ...codesIf(scope, 'unauthenticated', 'forbidden'),
    ...codesIf(isUnsafe, ...(conventions.ofUnsafe ?? [])),
    ...codesIf(isChange, 'invalid_parameter', 'validation_failed'),
    ...codesIf(id?.endsWith('_id'), 'malformed_uuid'),
    ...codesIf(id, 'not_found'),
    ...codesIf(docs.ifMatch, 'precondition_failed'),
    ...(docs.errors ?? []),
    ...codesIf(scope, 'insufficient_scope', 'network_not_permitted'),
    ...conventions.last,
  ];
}

const codesIf = (condition: unknown, ...codes: ErrorCode[]): ErrorCode[] => (condition ? codes : []);

/** The answer of a route: one that has created a record names its path. */
function answerOf({ docs: { answer, links }, status }: Route) {
  const {
    description = '',
    headers,
    ...rest
  } = typeof answer === 'string' ? { description: answer } : answer;
  const all = { ...((status === 201 || status === 202) && LOCATION), ...headers };
  const hasHeaders = Object.keys(all).length > 0;
  return { status, description, ...(hasHeaders && { headers: all }), ...(links && { links }), ...rest };
}

function bodyOf({ docs: { body, examples = {} }, file }: Route): MethodDecorator[] {
  if (file) return [ApiExtension(REQUEST_BODY, fileBody(file))];
  if (!body) return [];
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return [ApiBody({ type: body, ...(named.length > 0 && { examples: Object.fromEntries(named) }) })];
}

/** A file is the body itself, or a part of a form. */
const fileBody = ({ type, maxBytes, description, example }: FileRules) => {
  const file = { type: 'string', format: 'binary', maxLength: maxBytes };
  const form = { schema: { type: 'object', properties: { file }, required: ['file'] } };
  const text = { schema: { type: 'string', maxLength: maxBytes }, example };
  return { required: true, description, content: { [type]: text, 'multipart/form-data': form } };
};

const OptionalHeader = (name: string, description: string, schema: object) =>
  ApiHeader({ name, required: false, description, schema });

/** The header of a request that may be sent again. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Characters of one that is percent-encoded as UTF-8. */
const MAX_ENCODED = 12;

/** With a key a change takes effect once, and a repetition gets the first answer. The audit keeps the reason. */
const CHANGE_HEADERS = [
  OptionalHeader(
    IDEMPOTENCY_KEY,
    'Random, 1 to 255 printable ASCII characters. Sent again within 24 hours, the request gets its first answer.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  ),
  OptionalHeader(
    AUDIT_REASON,
    `Why, for the audit: at most ${MAX_REASON} characters, percent-encoded as UTF-8.`,
    { type: 'string', maxLength: MAX_REASON * MAX_ENCODED, pattern: '^[ -~]*$' },
  ),
];
