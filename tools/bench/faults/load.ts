import { randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { percentilesOf } from '../support/statistics.js';
import { KEY, type Service } from './servers.js';

const WORKERS = 8;

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

export async function countUsers(service: Service): Promise<number> {
  const { text } = await send(service.url, 'GET', '/api/0.3/users/search?limit=1');
  return (JSON.parse(text) as { Count: number }).Count;
}

/**
 * Connectors that create users without a pause. They repeat failed requests with the same `Idempotency-Key`, as the
 * guide for connectors requires.
 */
export class Load {
  sent = 0;
  readonly acknowledged = new Map<string, string>();
  readonly statuses = new Map<string, number>();
  private readonly stop = new AbortController();
  private readonly agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
  private readonly workers: Promise<void>[];

  constructor(
    private readonly service: Service,
    private readonly usersBefore: number,
  ) {
    this.workers = Array.from({ length: WORKERS }, () => this.work());
  }

  /** Waits for the next success. Returns the milliseconds until then. */
  async waitForRecovery(): Promise<number> {
    const from = performance.now();
    const before = this.acknowledged.size;
    while (this.acknowledged.size === before) await delay(5);
    return performance.now() - from;
  }

  async waitUntil(acknowledged: number): Promise<void> {
    while (this.acknowledged.size < acknowledged) await delay(5);
  }

  /** Ends the load. Counts acknowledged users that are missing, and additional users that were never acknowledged. */
  async verify(): Promise<{ lost: number; extra: number }> {
    this.stop.abort();
    await Promise.all(this.workers);
    this.agent.destroy();
    let lost = 0;
    for (const [username, uuid] of this.acknowledged) {
      const { status, text } = await send(this.service.url, 'GET', `/api/0.3/users/${uuid}`);
      if (status !== 200 || (JSON.parse(text) as { username: string }).username !== username) lost++;
    }
    return { lost, extra: (await countUsers(this.service)) - this.usersBefore - this.acknowledged.size };
  }

  private async work(): Promise<void> {
    while (!this.stop.signal.aborted) {
      const username = `load-${randomUUID()}`;
      const body = { username, email: `${username}@example.org` };
      const headers = { 'idempotency-key': username };
      for (let acknowledged = false; !acknowledged;) {
        this.sent++;
        const response = await send(this.service.url, 'POST', '/api/0.3/users', body, {
          agent: this.agent,
          headers,
        }).catch((error: unknown): Answer => ({
          status: 0,
          headers: {},
          text: (error as NodeJS.ErrnoException).code ?? String(error),
        }));
        const key = response.status === 0 ? response.text : String(response.status);
        this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
        acknowledged = response.status === 201;
        if (acknowledged)
          this.acknowledged.set(username, (JSON.parse(response.text) as { uuid: string }).uuid);
        else await delay(50);
      }
    }
  }
}

/** Reads one user repeatedly until a promise settles. @returns the median and the 99th percentile in milliseconds. */
export async function measureReads(
  service: Service,
  until: Promise<unknown>,
): Promise<{ count: number; failed: number; median: number; p99: number }> {
  const millis: number[] = [];
  let failed = 0;
  const ended = new AbortController();
  void until.finally(() => {
    ended.abort();
  });
  const agent = new Agent({ keepAlive: true });
  while (!ended.signal.aborted) {
    const from = performance.now();
    const response = await send(service.url, 'GET', '/api/0.3/users/search?username=admin', undefined, {
      agent,
    }).catch(() => undefined);
    millis.push(performance.now() - from);
    if (response?.status !== 200) failed++;
  }
  agent.destroy();
  return { count: millis.length, failed, ...percentilesOf(millis) };
}
