import { Agent, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { assertContract } from './contract.js';

/** Any JSON: tests reach into answers freely, and a wrong path is an undefined that no expectation accepts. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  body: Json;
  /** `name=value` of the cookie that the answer sets, `''` without one. */
  cookie: string;
}

type Headers = Record<string, string>;

/** The bytes of an answer, as they were before the service compressed them for a client that accepts it. */
function unpacked(bytes: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes;
}

const PREFIX = '/api/0.3';

/** The service closes idle connections after 5 seconds. */
const IDLE_MILLIS = 2000;

/** Uses no connection again that was idle for long: the service may be closing it, even if no timer has run since. */
class FreshAgent extends Agent {
  private readonly idleSince = new WeakMap<Duplex, number>();

  override keepSocketAlive(socket: Duplex): boolean {
    this.idleSince.set(socket, performance.now());
    return super.keepSocketAlive(socket) as unknown as boolean; // its type lacks the answer
  }

  closeIdle(): void {
    const limit = performance.now() - IDLE_MILLIS;
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? []))
      if ((this.idleSince.get(socket) ?? 0) < limit) socket.destroy();
  }
}
export const agent = new FreshAgent({ keepAlive: true, timeout: IDLE_MILLIS });

/** Calls the API under `/api/0.3`. Every answer is checked against the OpenAPI file. */
export class Client {
  constructor(
    private readonly url: string,
    readonly headers: Headers = {},
  ) {}

  /** The same client with more headers. */
  with(headers: Headers): Client {
    return new Client(this.url, { ...this.headers, ...headers });
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: object, headers?: Headers): Promise<Answer> {
    return this.send('POST', path, body && JSON.stringify(body), headers);
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  put(path: string, body: object, headers?: Headers): Promise<Answer> {
    return this.send('PUT', path, JSON.stringify(body), headers);
  }

  /** Sends the body unchanged, as JSON unless the headers say otherwise. */
  send(method: string, path: string, body?: string | Uint8Array, headers?: Headers): Promise<Answer> {
    return this.checked(method, `${PREFIX}${path}`, body, headers);
  }

  /** As `send`, with the whole path. */
  async checked(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Headers = {},
  ): Promise<Answer> {
    const answer = await this.raw(method, path, body, headers);
    assertContract(method, path, answer);
    return answer;
  }

  /** Any path of the server, not checked against the OpenAPI file. */
  raw(method: string, path: string, body?: string | Uint8Array, headers: Headers = {}): Promise<Answer> {
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
            const text = unpacked(Buffer.concat(chunks), response.headers['content-encoding']).toString(
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
