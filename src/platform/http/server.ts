import helmet from 'helmet';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Env, EnvError } from '../config/env.js';
import { readPemFile } from '../config/settings.js';
import { varies } from './compression.js';
import type { Preparation } from './lean.adapter.js';
import type { Observer } from '../telemetry/observe.js';

/** Those of TLS 1.3, and of 1.2 those with forward secrecy and authenticated encryption (Mozilla, "intermediate"). */
const FORWARD_SECRECY = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * What the service needs to speak HTTPS itself; undefined where it does not.
 * @throws EnvError naming the setting whose file cannot be read.
 */
export function tlsOptions({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Env) {
  if (cert === undefined && key === undefined) return undefined;
  const missing = cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE';
  if (cert === undefined || key === undefined) {
    throw new EnvError(`${missing} is missing: TLS_CERT_FILE and TLS_KEY_FILE go together.`);
  }
  return {
    cert: readPemFile('TLS_CERT_FILE', cert),
    key: readPemFile('TLS_KEY_FILE', key),
    minVersion: 'TLSv1.2' as const,
    ciphers: FORWARD_SECRECY,
    honorCipherOrder: true,
  };
}

/**
 * Lets a server end with its last answer: once it is `ending` no connection is kept alive, so that no client sends its
 * next request into one that closes, and none holds up the end until its time-out.
 */
export function closePromptly(
  server: Server,
  state: { readonly ending: boolean },
): Observer & { prepare: Preparation } {
  return {
    prepare: (_request, response) => {
      if (state.ending) response.setHeader('Connection', 'close');
    },
    answered: () => {
      if (server.listening) return;
      setImmediate(() => {
        server.closeIdleConnections();
      });
    },
  };
}

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
/** The console loads its own files, and talks to this service only. No text becomes markup or code in it. */
const OF_THE_CONSOLE = {
  ...OF_AN_ANSWER,
  'script-src': SELF,
  'style-src': SELF,
  'img-src': SELF,
  'connect-src': SELF,
  'require-trusted-types-for': ["'script'"],
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
      // No page of another origin embeds an answer; the picture of users without one says otherwise itself.
      crossOriginResourcePolicy: { policy: 'same-origin' },
      ...more,
    });
  const pages = withPolicy(OF_AN_ANSWER);
  const docs = withPolicy(OF_THE_DOCS);
  const ofConsole = withPolicy(OF_THE_CONSOLE);
  // Personal data: no cache may keep it. Clients that use ETags revalidate with If-None-Match.
  const api = [
    ...withPolicy(OF_AN_ANSWER, OF_PAGES_ALONE),
    ['Cache-Control', 'no-store'] satisfies [string, string],
  ];
  const families: Partial<Record<string, [string, string][]>> = {
    '/api/': api,
    '/scim': api,
    '/docs': docs,
    '/cons': ofConsole,
  };
  return (request, response) => {
    const headers = families[request.url.slice(0, 5).toLowerCase()] ?? pages; // routes are found in any case
    for (const [name, value] of headers) response.setHeader(name, value);
    if (headers === docs) varies(response); // its files may be cached, compressed or not
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
