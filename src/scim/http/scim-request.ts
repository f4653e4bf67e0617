import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../access/actor.js';
import { readCaller } from '../../access/decorators.js';
import type { ListParameters } from '../protocol/list.js';

/** The parts of a SCIM request that every resource type reads in the same way, and the response to the request. */
export interface ScimRequest {
  /** The id in the path. Empty for a path without an id. */
  id: string;
  body: ListParameters;
  query: ListParameters;
  ifMatch: string | undefined;
  caller: Caller;
  response: Response;
}

/** Injects a `ScimRequest`. @throws ProblemError `invalid_parameter` if the reason for the audit is invalid. */
export const CurrentRequest = createParamDecorator((_: unknown, context: ExecutionContext): ScimRequest => {
  const http = context.switchToHttp();
  const request = http.getRequest<
    Request<{ id?: string }, unknown, ListParameters> & { checkedQuery: ListParameters }
  >();
  const { params, body, checkedQuery: query, headers } = request;
  const caller = readCaller(request);
  return {
    id: params.id ?? '',
    body,
    query,
    ifMatch: headers['if-match'],
    caller,
    response: http.getResponse(),
  };
});
