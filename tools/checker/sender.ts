import { Agent, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer as Received, send } from '../bench/faults/load.js';
import type { Attempt, Call, Effect, History } from './history.js';

const TIMEOUT = 15_000;
/** How long a request with an `Idempotency-Key` is repeated. */
const PATIENCE = 60_000;
const PAUSE = 150;
/** After a request without an answer, so that an instance that is down is not asked thousands of times. */
const DOWN = 50;
/** The connection was never made, so nothing was sent. */
const NOT_SENT = ['ECONNREFUSED'];
/** Answers after which a request with a key is repeated: the first one may still be at work. */
const REPEATED = ['outcome_unknown', 'unavailable', 'internal', 'in_progress', 'rate_limited'];

export type Json = Record<string, unknown>;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Json;
  code: string;
}

export interface Question {
  method: string;
  path: string;
  body?: Json | string;
  headers?: Record<string, string>;
  /** The first one, when left out. */
  instance?: number;
  /** false: never with an `Idempotency-Key`. */
  keyed?: false;
}

/** An answer, and what is known of the effect. */
export interface Told {
  answer: Answer;
  call: Call;
}

/** Sends requests to the instances and writes down every attempt. */
export class Sender {
  private readonly agent = new Agent({ keepAlive: true });
  private sent = 0;
  /** Set when the clients must come to an end: nothing is repeated any more. */
  hurry = false;

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

  /** One request, without a record of its effect. Status 0 when no answer came. */
  async ask({ method, path, body, headers, instance = 0 }: Question): Promise<[Answer, Attempt]> {
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
   * Sends an unsafe request. With an `Idempotency-Key` it is repeated on another instance until its outcome is certain.
   */
  async tell(client: string, question: Question): Promise<Told> {
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
      const [answer, attempt] = await this.ask({ ...question, headers, instance });
      attempts.push(attempt);
      const certain = effectOf(answer);
      const again = keyed && !this.hurry && (certain === 'unknown' || REPEATED.includes(answer.code));
      const done = !again || this.now - begin > PATIENCE;
      if (done) {
        const effect = overall(certain, attempts);
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
  const body = parsed(text);
  return { status, headers, body, code: typeof body['code'] === 'string' ? body['code'] : '' };
}

function toFailure(error: NodeJS.ErrnoException): Answer {
  return { status: 0, headers: {}, body: {}, code: error.code ?? error.message };
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}

/** 503 `unavailable` promises that nothing happened; 500 and 503 `outcome_unknown` promise nothing. */
function effectOf({ status, code }: Answer): Effect {
  if (status === 0) return NOT_SENT.includes(code) ? 'none' : 'unknown';
  if (status >= 500) return code === 'unavailable' ? 'none' : 'unknown';
  return status < 400 ? 'done' : 'none';
}

/** A refusal after an attempt without an outcome does not tell what that one did. */
function overall(last: Effect, attempts: readonly Attempt[]): Effect {
  if (last !== 'none') return last;
  const open = attempts.some(
    ({ status, code }) => effectOf({ status, code, headers: {}, body: {} }) === 'unknown',
  );
  return open ? 'unknown' : 'none';
}
