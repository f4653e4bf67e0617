import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, type IAuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { countedFor } from '../access/actor.js';
import { Public } from '../access/decorators.js';
import { KeyUse } from '../api-keys/key-use.service.js';
import { unauthenticated } from '../common/errors.js';
import { networkOf } from '../http/network.js';
import { RateLimit } from './rate-limit.js';

/** A guard that sets `request.actor` by one strategy. */
function guardOf(strategy: string): IAuthGuard {
  class StrategyGuard extends AuthGuard(strategy) {
    constructor() {
      super({ property: 'actor' });
    }

    override handleRequest<T>(error: Error | null, actor: T | false): T {
      if (error) throw error;
      if (actor) return actor;
      throw unauthenticated('Send a valid X-API-Key header, or log in and send the session cookie.');
    }
  }
  return new StrategyGuard();
}

/**
 * The first of the global guards authenticates the request. An API key takes precedence over a cookie (interface §2).
 * Every route needs credentials unless it is `Public`.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly byKey = guardOf('api-key');
  private readonly byCookie = guardOf('session-cookie');

  constructor(
    private readonly reflector: Reflector,
    private readonly rates: RateLimit,
    private readonly use: KeyUse,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (this.reflector.get(Public, context.getHandler())) {
      // Logins are expensive; probes and pages are not counted.
      if (request.method === 'POST') await this.rates.count('address', networkOf(request.ip ?? ''), response);
      return true;
    }
    const guard = request.headers['x-api-key'] === undefined ? this.byCookie : this.byKey;
    try {
      await guard.canActivate(context);
    } catch (error) {
      await this.rates.count('address', networkOf(request.ip ?? ''), response); // invented credentials do not evade the limit
      throw error;
    }
    const { actor, ip = '' } = request;
    await this.rates.count(actor.kind === 'user' ? 'user' : 'key', countedFor(actor), response);
    if (actor.kind === 'key') await this.use.noteAddress(actor.id, ip);
    return true;
  }
}
