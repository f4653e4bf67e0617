import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { KEY } from './servers.js';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface SendOptions {
  agent?: Agent;
  /** Headers in addition to the API key and the content type. A cookie replaces the key. */
  headers?: Record<string, string>;
  /** Milliseconds without data after which the request fails. */
  timeout?: number;
}

/** Sends one request with the API key. Rejects on any failure. */
export function send(
  url: string,
  method: string,
  path: string,
  body?: object | string | Buffer,
  { agent, headers: own, timeout = 20_000 }: SendOptions = {},
): Promise<Answer> {
  const text = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
  const type = text === undefined ? {} : { 'content-type': 'application/json' };
  const key = own?.['cookie'] === undefined ? { 'x-api-key': KEY } : {};
  const headers = { ...key, ...type, ...own };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, agent, timeout }, (incoming) => {
      let received = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => (received += chunk));
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: received });
      });
      incoming.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', reject);
    sent.end(text);
  });
}
