import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';

export const SCIM_TYPE = 'application/scim+json';

/** This media type alone, with any parameters and weight. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/** Answers are `application/scim+json`, or JSON where `Accept` names that alone (RFC 7644, section 3.1). */
@Injectable()
export class ScimAnswers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const http = context.switchToHttp();
    const { accept = '' } = http.getRequest<Request>().headers;
    const type = PLAIN_JSON.test(accept) ? 'application/json' : SCIM_TYPE;
    http.getResponse<Response>().setHeader('Content-Type', `${type}; charset=utf-8`);
    return next.handle();
  }
}
