import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, type IAuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { SYSTEM, countedFor } from '../access/actor.js';
import { ByKey, Public } from '../access/decorators.js';
import { KeyUse } from '../api-keys/key-use.service.js';
import { unauthenticated } from '../platform/common/errors.js';
import { networkOf } from '../platform/http/request-headers.js';
import { RateLimit } from './rate-limit.js';

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
    private readonly use: KeyUse,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.isLocal) {
      request.actor = SYSTEM; // the rights of the socket are the credential
      return true;
    }
    if (this.reflector.get(Public, context.getHandler())) {
      // Logins are expensive; probes and pages are not counted.
      if (request.method === 'POST') await this.rates.count('address', networkOf(request.ip ?? ''), response);
      return true;
    }
    const guard = this.guardFor(context, request);
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

  private guardFor(context: ExecutionContext, { headers }: Request): IAuthGuard {
    if (this.reflector.get(ByKey, context.getClass())) return this.byBearer;
    return headers['x-api-key'] === undefined ? this.byCookie : this.byKey;
  }
}
