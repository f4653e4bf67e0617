import { Agent, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer as Received, send } from '../send.js';
import type { Attempt, Call, Effect, History } from './history.js';

const TIMEOUT = 15_000;
/** Milliseconds for which a request with an `Idempotency-Key` is repeated. */
const PATIENCE = 60_000;
const PAUSE = 150;
/** Pause after a request without a response, so that an instance that is down does not get thousands of requests. */
const DOWN = 50;
/** Error codes of connections that were never opened, so that nothing was sent. */
const NOT_SENT = ['ECONNREFUSED'];
/** Error codes after which a request with a key is repeated. The first request may still be running. */
const REPEATED = ['outcome_unknown', 'unavailable', 'internal', 'in_progress', 'rate_limited'];

export type Json = Record<string, unknown>;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Json;
  code: string;
}

export interface HttpRequest {
  method: string;
  path: string;
  body?: Json | string;
  headers?: Record<string, string>;
  /** Index of the instance. Default: the first one. */
  instance?: number;
  /** False for a request without an `Idempotency-Key`. */
  keyed?: false;
}

/** A response, with the known effect of the request. */
export interface CallResult {
  answer: Answer;
  call: Call;
}

/** Sends requests to the instances and records every attempt. */
export class Sender {
  private readonly agent = new Agent({ keepAlive: true });
  private sent = 0;
  /** True when the clients must end. Requests are no longer repeated then. */
  isEnding = false;

  constructor(
    private readonly history: History,
    private readonly urls: readonly string[],
    private readonly run: string,
  ) {}

  get instances(): number {
    return this.urls.length;
  }

  get now(): number {
    return performance.now();
  }

  /** Sends one request without recording its effect. The status is 0 without a response. */
  async send({ method, path, body, headers, instance = 0 }: HttpRequest): Promise<[Answer, Attempt]> {
    const id = `${this.run}-${this.sent++}`;
    const attempt: Attempt = { id, instance, begin: this.now, end: Infinity, status: 0, code: '' };
    const sent = { agent: this.agent, timeout: TIMEOUT, headers: { ...headers, 'x-request-id': id } };
    const answer = await send(this.urls[instance] ?? '', method, path, body, sent).then(toAnswer, toFailure);
    Object.assign(attempt, { end: this.now, status: answer.status, code: answer.code });
    this.history.attempts.push(attempt);
    if (answer.status === 0) await delay(DOWN);
    return [answer, attempt];
  }

  /**
   * Sends an unsafe request. With an `Idempotency-Key` it is repeated on other instances until its outcome is certain.
   */
  async call(client: string, question: HttpRequest): Promise<CallResult> {
    const { method, path } = question;
    const keyed = question.keyed ?? true;
    const begin = this.now;
    const attempts: Attempt[] = [];
    const headers = {
      ...question.headers,
      ...(keyed && { 'idempotency-key': `${this.run}.key.${this.sent}.${client}` }),
    };
    let instance = question.instance ?? 0;
    for (;;) {
      const [answer, attempt] = await this.send({ ...question, headers, instance });
      attempts.push(attempt);
      const certain = effectOf(answer);
      const isRepeated = keyed && !this.isEnding && (certain === 'unknown' || REPEATED.includes(answer.code));
      const isDone = !isRepeated || this.now - begin > PATIENCE;
      if (isDone) {
        const effect = combineEffects(certain, attempts);
        const end = effect === 'unknown' ? Infinity : this.now;
        return { answer, call: { client, method, path, attempts, begin, end, effect, keyed } };
      }
      instance = (instance + 1) % this.urls.length;
      await delay(PAUSE);
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

function toAnswer({ status, headers, text }: Received): Answer {
  const body = parseBody(text);
  return { status, headers, body, code: typeof body['code'] === 'string' ? body['code'] : '' };
}

function toFailure(error: NodeJS.ErrnoException): Answer {
  return { status: 0, headers: {}, body: {}, code: error.code ?? error.message };
}

function parseBody(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}

/**
 * Returns the effect of a request by its response. 503 `unavailable` promises that nothing happened. 500 and 503
 * `outcome_unknown` leave the effect open.
 */
function effectOf({ status, code }: Pick<Answer, 'status' | 'code'>): Effect {
  if (status === 0) return NOT_SENT.includes(code) ? 'none' : 'unknown';
  if (status >= 500) return code === 'unavailable' ? 'none' : 'unknown';
  return status < 400 ? 'done' : 'none';
}

/**
 * Returns the effect of several attempts. A refusal after an attempt with unknown outcome leaves the effect unknown.
 */
function combineEffects(last: Effect, attempts: readonly Attempt[]): Effect {
  if (last !== 'none') return last;
  return attempts.some((attempt) => effectOf(attempt) === 'unknown') ? 'unknown' : 'none';
}
