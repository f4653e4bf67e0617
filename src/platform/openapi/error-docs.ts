import type { Type } from '@nestjs/common';
import { ApiCookieAuth, ApiResponse, ApiSecurity, getSchemaPath } from '@nestjs/swagger';
import { CATALOGUE, type ErrorCode, ProblemError } from '../common/errors.js';
import { isObject } from '../common/json.js';
import { ProblemDto, toProblemDto } from '../http/problem.js';
import { describeHeader } from './shared-schemas.js';

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

export function describeErrors(codes: readonly ErrorCode[], conventions: Conventions): MethodDecorator[] {
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

export const REST_CONVENTIONS: Conventions = {
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
