import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isPublic } from '../access/decorators.js';
import { readAccepted } from '../platform/http/input.guard.js';
import { isSafeMethod } from '../platform/http/request-headers.js';
import { IdempotencyService } from './idempotency.service.js';

/**
 * The last global guard. On routes that require credentials, it responds to a repeated unsafe request with the stored
 * response. It ignores logins, because a login lacks credentials that could protect a stored response.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(private readonly requests: IdempotencyService) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const key = request.headers['idempotency-key'];
    if (key === undefined || isSafeMethod(request) || isPublic(context.getHandler())) return true;
    const hasFile = readAccepted(context.getHandler())?.file !== undefined;
    const response = context.switchToHttp().getResponse<Response>();
    return this.requests.createRequest(String(key), request, response, hasFile).then((repeatable) => {
      request.repeatable = repeatable;
      return true;
    });
  }
}
