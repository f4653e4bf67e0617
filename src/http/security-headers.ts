import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Preparation } from './lean.adapter.js';

const NOTHING = ["'none'"];
const SELF = ["'self'"];

/** What a browser may do with an answer: nothing but show it. */
const OF_AN_ANSWER = {
  'default-src': NOTHING,
  'base-uri': NOTHING,
  'form-action': NOTHING,
  'frame-ancestors': NOTHING,
};
/** Swagger UI has its scripts in files, and styles its elements. */
const OF_THE_DOCS = {
  ...OF_AN_ANSWER,
  'script-src': SELF,
  'style-src': [...SELF, "'unsafe-inline'"],
  'img-src': [...SELF, 'data:'],
  'connect-src': SELF,
};

/** What says something of pages that a browser shows, and nothing of data. */
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
  // Personal data: nobody keeps it. Clients that know ETags keep what they like, and ask with If-None-Match.
  const api = [...withPolicy(OF_AN_ANSWER, OF_PAGES_ALONE), ['Cache-Control', 'no-store'] as const];
  return (request, response) => {
    const path = request.url.slice(0, 5).toLowerCase(); // routes are found in any case
    const headers = path === '/api/' ? api : path === '/docs' ? docs : pages;
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

/** The headers that helmet sets, asked for once: none of them depends on the request. */
function headersOf(options: Parameters<typeof helmet>[0]): [string, string][] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error as Error;
  });
  return headers;
}
