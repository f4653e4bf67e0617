import cluster from 'node:cluster';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Reflector } from '@nestjs/core';
import { AuthGuard, type IAuthGuard } from '@nestjs/passport';
import { ProblemError, unauthenticated } from '../platform/common/errors.js';
import { Env } from '../platform/config/env.js';
import { SYSTEM, countedFor } from '../access/actor.js';
import { ByKey, Public } from '../access/decorators.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { networkOf } from '../platform/http/request-headers.js';

const WINDOW_SECONDS = 60;

/** Whose requests are counted: an API key, a user with all sessions, or an address without good credentials. */
export type Counted = 'key' | 'user' | 'address';

/**
 * Limits the requests per minute of one API key, of one user, and the logins and refused credentials of one address:
 * `RATE_LIMIT_PER_MINUTE` holds for all three where it is set, `SESSION_RATE_LIMIT_PER_MINUTE` for users. Answers carry
 * the `RateLimit` headers of draft-ietf-httpapi-ratelimit-headers. The workers of an instance share their counters through
 * the primary; instances count separately.
 */
@Injectable()
export class RateLimit {
  private readonly others: Limiter | undefined;
  private readonly users: Limiter | undefined;

  constructor({ RATE_LIMIT_PER_MINUTE: all, SESSION_RATE_LIMIT_PER_MINUTE: ofUser }: Env) {
    this.others = limiterOf('requests', all ?? Number.POSITIVE_INFINITY);
    const perUser = ofUser === 0 ? Number.POSITIVE_INFINITY : ofUser;
    this.users = limiterOf('sessions', Math.min(all ?? Number.POSITIVE_INFINITY, perUser));
  }

  /** @param id of the actor, or the address. @throws ProblemError `rate_limited` with `Retry-After`. */
  async count(who: Counted, id: string, response: Response): Promise<void> {
    const limiter = who === 'user' ? this.users : this.others;
    if (limiter) await consume(limiter, id, response);
  }
}

/** Counts a request and sets the `RateLimit` headers. @throws ProblemError `rate_limited`. */
async function consume(limiter: Limiter, id: string, response: Response): Promise<void> {
  const result = await limiter
    .consume(id)
    .catch((over: unknown) => (over instanceof RateLimiterRes ? over : undefined));
  if (!result) return; // fail open: the primary did not answer in time
  const seconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  response.setHeader('RateLimit-Policy', `"default";q=${limiter.points};w=${WINDOW_SECONDS}`);
  response.setHeader('RateLimit', `"default";r=${result.remainingPoints};t=${seconds}`);
  if (result.consumedPoints <= limiter.points) return;
  throw new ProblemError(
    'rate_limited',
    `More than ${limiter.points} requests in a minute; wait ${seconds} seconds.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

type Limiter = RateLimiterMemory | RateLimiterCluster;

function limiterOf(keyPrefix: string, points: number): Limiter | undefined {
  if (points === Number.POSITIVE_INFINITY) return undefined;
  const options = { keyPrefix, points, duration: WINDOW_SECONDS };
  return cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
}

/** A guard that sets `request.actor` by one strategy. */
function guardOf(strategy: string, hint: string): IAuthGuard {
  class StrategyGuard extends AuthGuard(strategy) {
    constructor() {
      super({ property: 'actor' });
    }

    override handleRequest<T>(error: Error | null, actor: T | false): T {
      if (error) throw error;
      if (actor) return actor;
      throw unauthenticated(hint);
    }
  }
  return new StrategyGuard();
}

const HINT = 'Send a valid X-API-Key header, or log in and send the session cookie.';
const BEARER_HINT = 'Send a valid API key: `Authorization: Bearer <key>`.';

/**
 * The first of the global guards authenticates the request. An API key takes precedence over a cookie (interface §2).
 * Every route needs credentials unless it is `Public`.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly byKey = guardOf('api-key', HINT);
  private readonly byCookie = guardOf('session-cookie', HINT);
  private readonly byBearer = guardOf('bearer', BEARER_HINT);

  constructor(
    private readonly reflector: Reflector,
    private readonly rates: RateLimit,
    private readonly keys: ApiKeysService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.isLocal) {
      request.actor = SYSTEM; // the rights of the socket are the credential
      return true;
    }
    const { ip = '' } = request;
    if (this.reflector.get(Public, context.getHandler())) {
      // Logins are expensive. Probes and pages are not counted.
      if (request.method === 'POST') await this.rates.count('address', networkOf(ip), response);
      return true;
    }
    try {
      await this.guardFor(context, request).canActivate(context);
    } catch (error) {
      await this.rates.count('address', networkOf(ip), response); // invented credentials do not evade the limit
      throw error;
    }
    const { actor } = request;
    await this.rates.count(actor.kind === 'user' ? 'user' : 'key', countedFor(actor), response);
    if (actor.kind === 'key') await this.keys.noteAddress(actor.id, ip);
    return true;
  }

  private guardFor(context: ExecutionContext, { headers }: Request): IAuthGuard {
    if (this.reflector.get(ByKey, context.getClass())) return this.byBearer;
    return headers['x-api-key'] === undefined ? this.byCookie : this.byKey;
  }
}
