import type { Request, Response } from 'express';
import { SCIM_PATH } from './scim-route.js';

export const SCIM_TYPE = 'application/scim+json';

/** This media type alone, with any parameters and weight. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;
const BELOW = new RegExp(`^/${SCIM_PATH}(?:[/?]|$)`, 'i');

/**
 * Answers of SCIM are `application/scim+json`, or JSON where `Accept` names that alone (RFC 7644, section 3.1). For every request
 * before its route is looked up: an interceptor would cost a short request as much as reading the user.
 */
export function scimAnswers({ url, headers: { accept = '' } }: Request, response: Response): void {
  if (!BELOW.test(url)) return;
  const type = PLAIN_JSON.test(accept) ? 'application/json' : SCIM_TYPE;
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
}
