import {
  applyDecorators,
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { Reflector } from '@nestjs/core';
import { from, lastValueFrom } from 'rxjs';
import { createDecoratorReader } from '../platform/http/input.guard.js';
import { readAuditReason } from '../platform/http/request-headers.js';
import { RequiredScope } from '../platform/openapi/route-docs.js';
import type { Actor, Caller, RepeatableRequest } from './actor.js';
import { type Permission, isReadPermission, scopeOf } from './policy.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The value of the request header `X-Request-Id`, or a generated id. */
    requestId: string;
    /** Set by the access guard on every route that is not public. */
    actor: Actor;
    /** Set by the idempotency guard on unsafe requests with an `Idempotency-Key`. */
    repeatable?: RepeatableRequest;
  }
}

export interface Requirement {
  permission: Permission;
  /**
   * Permission that is enough if the `user_id` in the path is the id of the caller, or if the path contains no
   * `user_id`.
   */
  self?: Permission;
}

const RequiredPermission = Reflector.createDecorator<Requirement | undefined>();
export const readRequirement = createDecoratorReader(RequiredPermission);

/**
 * Marks a route that needs no credentials. Every request to a route with neither `Public` nor `Requires` is rejected.
 */
export const Public = Reflector.createDecorator<undefined, boolean>({ transform: () => true });
export const isPublic = createDecoratorReader(Public);

/** Marks a controller whose routes accept only API keys, in the header `X-API-Key` or as bearer tokens. */
export const ByKey = Reflector.createDecorator<undefined, boolean>({ transform: () => true });
export const isByKey = createDecoratorReader(ByKey);

/** Stores the response to a request with an `Idempotency-Key` in the transaction that changes the data (ADR 16). */
const IdempotentResponse: NestInterceptor = {
  intercept: (context: ExecutionContext, next: CallHandler) => {
    const { repeatable } = context.switchToHttp().getRequest<Request>();
    if (!repeatable) return next.handle();
    return from(repeatable.runOnce(() => lastValueFrom(next.handle(), { defaultValue: undefined })));
  },
};

/**
 * Declares the permission that a route requires, and adds its scope to the OpenAPI file. If the route changes data, a
 * repeated request gets the response to the first request.
 */
export const Requires = (permission: Permission, self?: Permission) =>
  applyDecorators(
    RequiredPermission({ permission, ...(self && { self }) }),
    RequiredScope(scopeOf(permission) ?? 'none'),
    ...(isReadPermission(permission) ? [] : [UseInterceptors(IdempotentResponse)]),
  );

/** Returns the caller of a request. @throws ProblemError `invalid_parameter` if the reason is invalid. */
export function readCaller(request: Request): Caller {
  const { actor, requestId, ip = '', repeatable } = request;
  const reason = readAuditReason(request);
  return { actor, requestId, ip, ...(reason !== undefined && { reason }), ...(repeatable && { repeatable }) };
}

/**
 * Injects the caller of a route: the actor, request id, address and reason.
 * @throws ProblemError `invalid_parameter` if the reason is invalid.
 */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readCaller(context.switchToHttp().getRequest<Request>()),
);
