import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../access/actor.js';
import { readCaller } from '../../access/decorators.js';
import type { ListParameters } from '../protocol/list.js';

/** The parts of a SCIM request that every resource type reads in the same way, and the response to the request. */
export interface ScimRequest {
  query: ListParameters;
  ifMatch: string | undefined;
  caller: Caller;
  response: Response;
}

/** Injects a `ScimRequest`. @throws ProblemError `invalid_parameter` if the reason for the audit is invalid. */
export const CurrentRequest = createParamDecorator((_: unknown, context: ExecutionContext): ScimRequest => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request & { checkedQuery: ListParameters }>();
  const { checkedQuery: query, headers } = request;
  return { query, ifMatch: headers['if-match'], caller: readCaller(request), response: http.getResponse() };
});
