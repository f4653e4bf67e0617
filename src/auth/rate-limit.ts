import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import cluster from 'node:cluster';
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ProblemError } from '../platform/common/errors.js';
import { Env } from '../platform/config/env.js';

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
    if (!limiter) return;
    const result = await limiter
      .consume(id)
      .catch((over: unknown) => (over instanceof RateLimiterRes ? over : undefined));
    if (!result) return; // the primary is too busy to count: a limit that cannot be asked refuses nobody
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

type Limiter = RateLimiterMemory | RateLimiterCluster;

function limiterOf(keyPrefix: string, points: number): Limiter | undefined {
  if (points === Number.POSITIVE_INFINITY) return undefined;
  const options = { keyPrefix, points, duration: WINDOW_SECONDS };
  return cluster.isWorker ? new RateLimiterCluster(options) : new RateLimiterMemory(options);
}
