import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { isSelf } from '../access/actor.js';
import { ByKey, Public, RequiredPermission, type Requirement } from '../access/decorators.js';
import { insufficientScope, may, missingScope } from '../access/policy.js';
import { ProblemError } from '../platform/common/errors.js';
import { SameSite } from './same-site.js';
import { SessionCookie } from '../sessions/session-cookie.js';

/** The third of the global guards: refuses other sites' use of a cookie, and what the actor's role does not permit. */
@Injectable()
export class PermissionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly cookie: SessionCookie,
    private readonly site: SameSite,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const byKey = request.headers['x-api-key'] !== undefined || this.reflector.get(ByKey, context.getClass());
    if (!byKey && this.cookie.read(request) !== undefined) this.site.assert(request);
    if (this.reflector.get(Public, context.getHandler())) return true;
    const requirement = this.reflector.get(RequiredPermission, context.getHandler());
    if (requirement && permitted(request, requirement)) return true;
    const missing = requirement && missingScope(request.actor, requirement.permission);
    if (missing) throw insufficientScope(missing);
    throw new ProblemError('forbidden', 'Your role does not permit this.');
  }
}

function permitted({ actor, params }: Request, { permission, self }: Requirement): boolean {
  if (may(actor, permission)) return true;
  const own = params['user_id'] === undefined || isSelf(actor, String(params['user_id']));
  return self !== undefined && own && may(actor, self);
}
