import { Agent, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { assertContract } from './contract.js';

/**
 * Any JSON value. Tests read response bodies without types, and a wrong path gives undefined, which fails the
 * expectation.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  body: Json;
  /** `name=value` of the cookie that the response sets, or an empty string. */
  cookie: string;
}

type Headers = Record<string, string>;

/** Decompresses a response body. */
function decompress(bytes: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes;
}

const PREFIX = '/api/0.3';

/** The service closes idle connections after 5 seconds. */
const IDLE_MILLIS = 2000;

/**
 * Reuses only connections that were idle for a short time. The service may be closing older connections, even if its
 * timer has not run yet.
 */
class FreshAgent extends Agent {
  private readonly idleSince = new WeakMap<Duplex, number>();

  override keepSocketAlive(socket: Duplex): boolean {
    this.idleSince.set(socket, performance.now());
    return super.keepSocketAlive(socket) as unknown as boolean; // the declared type has no return value
  }

  closeIdle(): void {
    const oldest = performance.now() - IDLE_MILLIS;
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? []))
      if ((this.idleSince.get(socket) ?? 0) < oldest) socket.destroy();
  }
}
export const agent = new FreshAgent({ keepAlive: true, timeout: IDLE_MILLIS });

/** Client of the API under `/api/0.3`. Every response is checked against the OpenAPI file. */
export class Client {
  constructor(
    private readonly url: string,
    readonly headers: Headers = {},
  ) {}

  /** Returns a client with additional headers. */
  with(headers: Headers): Client {
    return new Client(this.url, { ...this.headers, ...headers });
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: object, headers?: Headers): Promise<Answer> {
    return this.send('POST', path, body && JSON.stringify(body), headers);
  }

  delete(path: string, headers?: Headers): Promise<Answer> {
    return this.send('DELETE', path, undefined, headers);
  }

  put(path: string, body: object, headers?: Headers): Promise<Answer> {
    return this.send('PUT', path, JSON.stringify(body), headers);
  }

  /** Sends the body unchanged. The default media type is JSON. */
  send(method: string, path: string, body?: string | Uint8Array, headers?: Headers): Promise<Answer> {
    return this.fetchChecked(method, `${PREFIX}${path}`, body, headers);
  }

  /** Sends a request to a complete path, without the prefix `/api/0.3`. */
  async fetchChecked(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Headers = {},
  ): Promise<Answer> {
    const response = await this.fetch(method, path, body, headers);
    assertContract(method, path, response);
    return response;
  }

  /** Sends a request to a complete path. The response is not checked against the OpenAPI file. */
  fetch(method: string, path: string, body?: string | Uint8Array, headers: Headers = {}): Promise<Answer> {
    const type: Headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const length: Headers = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const { hostname, port } = new URL(this.url);
    agent.closeIdle();
    return new Promise((resolve, reject) => {
      const sent = request(
        { agent, hostname, port, method, path, headers: { ...type, ...length, ...this.headers, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = decompress(Buffer.concat(chunks), response.headers['content-encoding']).toString(
              'utf8',
            );
            const cookie = response.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
            const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
            resolve({
              status: response.statusCode ?? 0,
              headers: Object.fromEntries(flat) as Record<string, string>,
              text,
              body:
                /json/.test(response.headers['content-type'] ?? '') && text !== ''
                  ? JSON.parse(text)
                  : undefined,
              cookie,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
