import cluster from 'node:cluster';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, RequestHandler, Response } from 'express';
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import passport from 'passport';
import { ProblemError, createUnauthenticatedError } from '../platform/common/errors.js';
import { Env } from '../platform/config/env.js';
import { type Actor, SYSTEM, getUsageKey, isSelf } from '../access/actor.js';
import { type Requirement, isByKey, isPublic, readRequirement } from '../access/decorators.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { isSafeMethod, toNetwork } from '../platform/http/request-headers.js';
import {
  type Permission,
  assertPasswordReplaced,
  createScopeError,
  findMissingScope,
  hasPermission,
} from '../access/policy.js';
import { SessionCookie } from '../sessions/session-cookie.js';

const WINDOW_SECONDS = 60;

/**
 * Limits the requests per minute of each API key and user, and the logins and rejected credentials of each address.
 * `RATE_LIMIT_PER_MINUTE` limits keys, users and addresses. `SESSION_RATE_LIMIT_PER_MINUTE` limits only users.
 * Responses contain the `RateLimit` headers of draft-ietf-httpapi-ratelimit-headers. Instances of one service share
 * their counters through the primary.
 */
@Injectable()
export class RateLimit {
  private readonly otherLimiter: Limiter | undefined;
  private readonly userLimiter: Limiter | undefined;

  constructor({ RATE_LIMIT_PER_MINUTE: all = Infinity, SESSION_RATE_LIMIT_PER_MINUTE: ofUser }: Env) {
    this.otherLimiter = createLimiter('requests', all);
    this.userLimiter = createLimiter('sessions', Math.min(all, ofUser || Infinity)); // 0 means no limit
  }

  /**
   * Counts a request.
   * @param subject whose requests are counted: an API key, a user over all sessions, or the client address of requests
   * without valid credentials.
   * @param id id of the key or user, or the address.
   * @throws ProblemError `rate_limited` with `Retry-After`.
   */
  async countRequest(subject: 'key' | 'user' | 'address', id: string, response: Response): Promise<void> {
    const limiter = subject === 'user' ? this.userLimiter : this.otherLimiter;
    const result = await limiter
      ?.consume(id)
      .catch((over: unknown) => (over instanceof RateLimiterRes ? over : undefined));
    if (!limiter || !result) return; // without an answer from the primary, allow the request
    // If the clock was set back, msBeforeNext is too long. The timer of the window does not depend on the clock.
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(result.msBeforeNext / 1000)));
    response.setHeader('RateLimit-Policy', `"default";q=${limiter.points};w=${WINDOW_SECONDS}`);
    response.setHeader('RateLimit', `"default";r=${result.remainingPoints};t=${seconds}`);
    if (result.consumedPoints <= limiter.points) return;
    const detail = `More than ${limiter.points} requests in a minute. Try again in ${seconds} seconds.`;
    throw new ProblemError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
  }
}

type Limiter = RateLimiterMemory | RateLimiterCluster;

function createLimiter(keyPrefix: string, points: number): Limiter | undefined {
  if (points === Infinity) return undefined;
  const options = { keyPrefix, points, duration: WINDOW_SECONDS };
  return cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
}

/**
 * Runs a Passport strategy and sets the actor of the request. Nest's `AuthGuard` does the same, but creates more
 * objects and promises per request.
 * @throws ProblemError `unauthenticated` with `hint`, and the errors of the strategy.
 */
function runStrategy(strategy: string, hint: string, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error: Error | null, actor?: Actor | false): void => {
      if (actor) request.actor = actor;
      if (actor) resolve();
      else reject(error ?? createUnauthenticatedError(hint));
    };
    const run = passport.authenticate(strategy, { session: false }, finish) as RequestHandler;
    void run(request, response, reject);
  });
}

const HINT = 'Send a valid X-API-Key header, or log in and send the session cookie.';
const BEARER_HINT = 'Send a valid API key: `Authorization: Bearer <key>`.';

/**
 * The first global guard. It authenticates every request, except requests to `Public` routes. If a request has both an
 * API key and a cookie, the key is used (interface §2).
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly rates: RateLimit,
    private readonly keys: ApiKeysService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.isLocal)
      request.actor = SYSTEM; // requests on the private socket act as the system
    else if (!isPublic(context.getHandler())) await this.authenticate(context, request, response);
    else if (request.method === 'POST')
      await this.rates.countRequest('address', toNetwork(request.ip ?? ''), response); // a login, which is expensive
    return true;
  }

  private async authenticate(context: ExecutionContext, request: Request, response: Response): Promise<void> {
    const { headers, ip = '' } = request;
    const hasKey = headers['x-api-key'] !== undefined;
    try {
      if (isByKey(context.getClass())) await runStrategy('bearer', BEARER_HINT, request, response);
      else await runStrategy(hasKey ? 'api-key' : 'session-cookie', HINT, request, response);
    } catch (error) {
      // Rejected credentials count too, so that random credentials cannot evade the limit.
      await this.rates.countRequest('address', toNetwork(ip), response);
      throw error;
    }
    const { actor } = request;
    await this.rates.countRequest(actor.kind === 'user' ? 'user' : 'key', getUsageKey(actor), response);
    if (actor.kind === 'key') await this.keys.recordAddress(actor.id, ip);
  }
}

/**
 * Host names of this machine. If `BASE_URL` contains one of them, pages under the other names also belong to this
 * service.
 */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Prevents other sites from using the session cookie (OWASP CSRF Prevention, "verifying origin"). Browsers send
 * `Origin` or `Sec-Fetch-Site` with every unsafe request, and other clients send neither. `Origin` is compared with the
 * origin of `BASE_URL`. Without `BASE_URL`, a service that other machines can reach does not know its addresses, so it
 * compares `Origin` with the Host header.
 */
@Injectable()
export class SameSite {
  /** Origins of the pages of this service. Undefined if the Host header of the request determines the origin. */
  private readonly origins: ReadonlySet<string> | undefined;

  constructor(env: Env) {
    if (env.BASE_URL === undefined && !env.isLocal) return;
    const { protocol, hostname, port, origin } = new URL(env.baseUrl);
    const names = LOOPBACK.includes(hostname) ? LOOPBACK : [];
    const same = names.map((name) => new URL(`${protocol}//${name}:${port}`).origin);
    this.origins = new Set([origin, ...same]);
  }

  /**
   * Checks a request that has a session cookie but no API key. `Origin: null` (a sandboxed frame or a file) counts as
   * another origin.
   * @throws ProblemError `cross_site` if a page of another origin sends the request with an unsafe method.
   */
  assertSameSite(request: Pick<Request, 'method' | 'headers' | 'protocol' | 'host'>): void {
    if (isSafeMethod(request)) return;
    const { origin, 'sec-fetch-site': site } = request.headers;
    const origins =
      this.origins ?? new Set([URL.parse(`${request.protocol}://${request.host}`)?.origin ?? '']);
    const foreign = origin !== undefined && !origins.has(origin);
    if (!foreign && site !== 'cross-site') return;
    const [own = ''] = origins;
    const detail = `A session can only be used from pages of this service at ${own} (BASE_URL).`;
    throw new ProblemError('cross_site', detail);
  }
}

/**
 * The third global guard. It rejects requests that other sites send with a session cookie, and requests without the
 * required permission.
 */
@Injectable()
export class PermissionGuard implements CanActivate {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly site: SameSite,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const byKey = request.headers['x-api-key'] !== undefined || isByKey(context.getClass());
    if (!byKey && this.cookie.read(request) !== undefined) this.site.assertSameSite(request);
    if (isPublic(context.getHandler())) return true;
    const requirement = readRequirement(context.getHandler());
    if (requirement && isPermitted(request, requirement)) return true;
    const missing = requirement && findMissingScope(request.actor, requirement.permission);
    if (missing) throw createScopeError(missing);
    throw new ProblemError('forbidden', 'Your role does not permit this request.');
  }
}

/** Permissions that a session has before its user has replaced the password, for the caller's own profile. */
const ALLOWED_FIRST: readonly Permission[] = ['profile.read', 'profile.update', 'session.logout'];

/** @throws ProblemError `password_change_required`. */
function isPermitted({ actor, params }: Request, { permission, self = permission }: Requirement): boolean {
  const isOwn = params['user_id'] === undefined || isSelf(actor, String(params['user_id']));
  if (!isOwn || !ALLOWED_FIRST.includes(self)) assertPasswordReplaced(actor);
  return hasPermission(actor, permission) || (isOwn && hasPermission(actor, self));
}
