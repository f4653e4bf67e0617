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
import { auditReasonOf } from '../platform/http/request-headers.js';
import { RequiredScope } from '../platform/openapi/route-docs.js';
import type { Actor, Caller, RepeatableRequest } from './actor.js';
import { type Permission, isToRead, scopeOf } from './policy.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** From `X-Request-Id` or generated; set before anything can fail. */
    requestId: string;
    /** Set by the access guard on every route that is not public. */
    actor: Actor;
    /** Set by the idempotency guard on unsafe requests with an `Idempotency-Key`. */
    repeatable?: RepeatableRequest;
  }
}

export interface Requirement {
  permission: Permission;
  /** Sufficient instead of `permission` where the path's `user_id` is the actor's own. */
  self?: Permission;
}

export const RequiredPermission = Reflector.createDecorator<Requirement | undefined>();

/** The route needs no credentials. A route with neither this nor `Requires` is closed. */
export const Public = Reflector.createDecorator<undefined, boolean>({ transform: () => true });

/** A controller whose routes take an API key alone, as a bearer token too; a cookie does not count. */
export const ByKey = Reflector.createDecorator<undefined, boolean>({ transform: () => true });

/** Stores the answer to a request with an `Idempotency-Key` in the transaction of its effect (ADR 16). */
const AnswerOnce: NestInterceptor = {
  intercept: (context: ExecutionContext, next: CallHandler) => {
    const { repeatable } = context.switchToHttp().getRequest<Request>();
    if (!repeatable) return next.handle();
    return from(repeatable.answer(() => lastValueFrom(next.handle(), { defaultValue: undefined })));
  },
};

/**
 * The route needs credentials with this permission, whose scope the OpenAPI file shows. A route that changes something
 * also answers a repeated request with its first answer.
 */
export const Requires = (permission: Permission, self?: Permission) =>
  applyDecorators(
    RequiredPermission({ permission, ...(self && { self }) }),
    RequiredScope(scopeOf(permission) ?? 'none'),
    ...(isToRead(permission) ? [] : [UseInterceptors(AnswerOnce)]),
  );

/** The actor of the request, with the request's id and address, and why it is made. @throws ProblemError `invalid_parameter` for a bad reason. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const request = context.switchToHttp().getRequest<Request>();
  const { actor, requestId, ip = '', repeatable } = request;
  const reason = auditReasonOf(request);
  return {
    actor,
    requestId,
    ip,
    ...(reason !== undefined && { reason }),
    ...(repeatable && { repeatable }),
  };
});
