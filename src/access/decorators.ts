import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Request } from 'express';
import { Reflector } from '@nestjs/core';
import { auditReasonOf } from '../platform/http/audit-reason.js';
import type { Actor, Caller } from './actor.js';
import { type Permission, scopeOf } from './policy.js';
import type { RepeatableRequest } from './repeatable.js';

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

/** Extension of an operation: the scope that an API key needs for it; `any` valid key, or `none` where keys are refused. */
export const REQUIRED_SCOPE = 'x-required-scope';

/** The route needs credentials with this permission, whose scope the OpenAPI file shows. */
export const Requires = (permission: Permission, self?: Permission) =>
  applyDecorators(
    RequiredPermission({ permission, ...(self && { self }) }),
    ApiExtension(REQUIRED_SCOPE, scopeOf(permission) ?? 'none'),
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
