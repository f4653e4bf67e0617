import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import type { Preparation } from './lean.adapter.js';

const NOTHING = ["'none'"];
const SELF = ["'self'"];

/** A browser may only show an answer. */
const OF_AN_ANSWER = {
  'default-src': NOTHING,
  'base-uri': NOTHING,
  'form-action': NOTHING,
  'frame-ancestors': NOTHING,
};
/** Swagger UI loads its scripts from files and styles its elements inline. */
const OF_THE_DOCS = {
  ...OF_AN_ANSWER,
  'script-src': SELF,
  'style-src': [...SELF, "'unsafe-inline'"],
  'img-src': [...SELF, 'data:'],
  'connect-src': SELF,
};

/** Headers that matter for pages in a browser only. */
const OF_PAGES_ALONE = {
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/** Security headers (OWASP HTTP Headers Cheat Sheet). @param https whether clients reach the service by HTTPS. */
export function securityHeaders(https: boolean): Preparation {
  const withPolicy = (directives: Record<string, string[]>, more = {}) =>
    headersOf({
      contentSecurityPolicy: { useDefaults: false, directives },
      strictTransportSecurity: https,
      // Other pages of an intranet show the avatars.
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      ...more,
    });
  const pages = withPolicy(OF_AN_ANSWER);
  const docs = withPolicy(OF_THE_DOCS);
  // Personal data: no cache may keep it. Clients that use ETags revalidate with If-None-Match.
  const api = [...withPolicy(OF_AN_ANSWER, OF_PAGES_ALONE), ['Cache-Control', 'no-store'] as const];
  return (request, response) => {
    const path = request.url.slice(0, 5).toLowerCase(); // routes are found in any case
    const headers = path === '/api/' ? api : path === '/docs' ? docs : pages;
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

class Recorder extends ServerResponse {
  readonly headers: [string, string][] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.push([name, String(value)]);
    return this;
  }
}

/** The headers that helmet sets, computed once: none of them depends on the request. */
function headersOf(options: Parameters<typeof helmet>[0]): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new Recorder(request);
  helmet(options)(request, response, (error?: unknown) => {
    if (error instanceof Error) throw error;
  });
  return response.headers;
}
