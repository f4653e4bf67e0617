import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { isSelf } from '../access/actor.js';
import { Public, RequiredPermission, type Requirement } from '../access/decorators.js';
import { insufficientScope, may, missingScope } from '../access/policy.js';
import { ProblemError } from '../common/errors.js';
import { Env } from '../config/env.js';
import { isSafe } from '../http/methods.js';
import { SessionCookie } from '../sessions/session-cookie.js';

/** The third of the global guards: refuses other sites' use of a cookie, and what the actor's role does not permit. */
@Injectable()
export class PermissionGuard implements CanActivate {
  private readonly origin: string;

  constructor(
    private readonly reflector: Reflector,
    private readonly cookie: SessionCookie,
    env: Env,
  ) {
    this.origin = new URL(env.baseUrl).origin;
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const byKey = request.headers['x-api-key'] !== undefined;
    if (!byKey && this.cookie.read(request) !== undefined) this.assertSameSite(request);
    if (this.reflector.get(Public, context.getHandler())) return true;
    const requirement = this.reflector.get(RequiredPermission, context.getHandler());
    if (requirement && permitted(request, requirement)) return true;
    const missing = requirement && missingScope(request.actor, requirement.permission);
    if (missing) throw insufficientScope(missing);
    throw new ProblemError('forbidden', 'Your role does not permit this.');
  }

  /**
   * Keeps other sites from using a visitor's cookie (OWASP CSRF Prevention, "verifying origin"). Browsers send the
   * origin with every unsafe request; other clients send neither header and pass.
   * @throws ProblemError `cross_site` for an unsafe method from another origin.
   */
  private assertSameSite(request: Request): void {
    if (isSafe(request)) return;
    const { origin, host, 'sec-fetch-site': site } = request.headers;
    const foreign = origin !== undefined && origin !== this.origin && hostOf(origin) !== host;
    if (foreign || site === 'cross-site') {
      throw new ProblemError('cross_site', 'A session may not be used from a page of another site.');
    }
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function permitted({ actor, params }: Request, { permission, self }: Requirement): boolean {
  if (may(actor, permission)) return true;
  const own = params['user_id'] === undefined || isSelf(actor, String(params['user_id']));
  return self !== undefined && own && may(actor, self);
}
