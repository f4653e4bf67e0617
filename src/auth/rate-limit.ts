import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import cluster from 'node:cluster';
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ProblemError } from '../common/errors.js';
import { Env } from '../config/env.js';

const WINDOW_SECONDS = 60;

/**
 * Limits the requests per minute of one API key or user, and the refused credentials of one address, to
 * `RATE_LIMIT_PER_MINUTE`. Answers carry the `RateLimit` headers of draft-ietf-httpapi-ratelimit-headers. The workers of
 * an instance share their counters through the primary; instances count separately.
 */
@Injectable()
export class RateLimit {
  private readonly limiter: RateLimiterMemory | RateLimiterCluster | undefined;

  constructor({ RATE_LIMIT_PER_MINUTE: points }: Env) {
    if (points === undefined) return;
    const options = { keyPrefix: 'requests', points, duration: WINDOW_SECONDS };
    this.limiter = cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
  }

  /** @param key the id of the actor, or the address. @throws ProblemError `rate_limited` with `Retry-After`. */
  async count(key: string, response: Response): Promise<void> {
    const { limiter } = this;
    if (!limiter) return;
    const result = await limiter.consume(key).catch((over: unknown) => {
      if (over instanceof RateLimiterRes) return over;
      throw over;
    });
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
}
