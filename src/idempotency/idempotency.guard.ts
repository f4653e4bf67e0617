import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { Public } from '../access/decorators.js';
import { Accepts } from '../platform/http/input.guard.js';
import { isSafeMethod } from '../platform/http/request-headers.js';
import { IdempotencyService } from './idempotency.service.js';

/**
 * The last global guard. On routes that require credentials, it responds to a repeated unsafe request with the stored
 * response. It ignores logins, because a login lacks credentials that could protect a stored response.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly requests: IdempotencyService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const key = request.headers['idempotency-key'];
    if (key === undefined || isSafeMethod(request) || this.reflector.get(Public, context.getHandler()))
      return true;
    const hasFile = this.reflector.get(Accepts, context.getHandler())?.file !== undefined;
    const response = context.switchToHttp().getResponse<Response>();
    request.repeatable = await this.requests.createRequest(String(key), request, response, hasFile);
    return true;
  }
}
