import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { isSelf } from '../access/actor.js';
import { ByKey, Public, RequiredPermission, type Requirement } from '../access/decorators.js';
import { insufficientScope, may, missingScope } from '../access/policy.js';
import { ProblemError } from '../platform/common/errors.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { Env } from '../platform/config/env.js';
import { isSafe } from '../platform/http/request-headers.js';

/** Names of this machine: nobody else can answer to them, so a page from one of them is a page of this service. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Keeps other sites from using a visitor's cookie (OWASP CSRF Prevention, "verifying origin"). Browsers send the origin
 * with every unsafe request; other clients send neither header and pass. The origin is compared with that of `BASE_URL`
 * alone: the Host header is the client's word, and says what a rebound name or a careless proxy makes it say.
 */
@Injectable()
export class SameSite {
  private readonly origins: ReadonlySet<string>;

  constructor(env: Env) {
    const { protocol, hostname, port, origin } = new URL(env.baseUrl);
    const names = LOOPBACK.includes(hostname) ? LOOPBACK : [];
    const same = names.map((name) => new URL(`${protocol}//${name}:${port}`).origin);
    this.origins = new Set([origin, ...same]);
  }

  /**
   * For requests with a cookie and without a key. `Origin: null` (a sandboxed frame, a file) is foreign too.
   * @throws ProblemError `cross_site` for an unsafe method from another origin.
   */
  assert(request: Pick<Request, 'method' | 'headers'>): void {
    if (isSafe(request)) return;
    const { origin, 'sec-fetch-site': site } = request.headers;
    const foreign = origin !== undefined && !this.origins.has(origin);
    if (!foreign && site !== 'cross-site') return;
    const [own = ''] = this.origins;
    throw new ProblemError(
      'cross_site',
      `A session may be used from pages of this service only, which is at ${own} (BASE_URL).`,
    );
  }
}

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
