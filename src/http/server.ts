import type { Server } from 'node:http';
import { type Env, EnvError } from '../config/env.js';
import { readPemFile } from '../config/settings.js';
import type { Preparation } from './lean.adapter.js';
import type { Observer } from '../telemetry/observe.js';

/** A connection that has not sent the headers of a request by then is closed. */
const HEADERS_MILLIS = 15_000;
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
/** The longest that any request may take to arrive: a file of 100 MiB over a slow line. */
const FILE_MILLIS = 15 * 60 * 1000;

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

/** Clients that dawdle, by intent or not, hold no connection for long. */
export function boundSlowClients(server: Server): void {
  server.headersTimeout = HEADERS_MILLIS;
  server.requestTimeout = FILE_MILLIS;
}

/**
 * Lets a server end with its last answer: once it is `ending` no connection is kept alive, so that no client sends its
 * next request into one that closes, and none holds up the end until its time-out.
 */
export function closePromptly(server: Server, ending: () => boolean): Observer & { prepare: Preparation } {
  return {
    prepare: (_request, response) => {
      if (ending()) response.setHeader('Connection', 'close');
    },
    answered: () => {
      if (server.listening) return;
      setImmediate(() => {
        server.closeIdleConnections();
      });
    },
  };
}
