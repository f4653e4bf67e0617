import type { Response } from 'express';
import type { Present, RepeatableRequest } from '../access/repeatable.js';
import { validationFailed } from '../platform/common/errors.js';
import { sha256 } from '../platform/common/secret.js';
import { now, secondsFrom } from '../platform/common/time.js';
import { isUuid } from '../platform/common/uuid.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { FirstAnswer, type SentAnswer } from '../platform/http/first-answer.js';
import type { IdempotencyRepository } from './idempotency.repository.js';
import { requestMac, seal, unseal } from './sealed-answer.js';

export const KEPT_SECONDS = 24 * 60 * 60;

/** One request, however often it is sent. */
export interface RequestIdentity {
  /** The row: SHA-256 of credential and key. */
  id: string;
  key: string;
  method: string;
  /** Path and query. */
  url: string;
  /** The JSON body, undefined without one, `PENDING` for a file that is yet to be read. */
  content: unknown;
}

/**
 * A request that carries an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, ADR 16). Its effect, its key and its
 * answer are written in one transaction, whose primary key lets one of several equal requests through. A refused request
 * writes none of them.
 */
export class IdempotentRequest implements RepeatableRequest {
  private readonly inherited: ReadonlySet<string>;
  private hasOldRow = false;
  /** Of all content that a request had: a Bulk has a megabyte of it and many parts. */
  private known: { content: unknown; mac: string } | undefined;
  private present: (result: unknown, tx: Sql) => Promise<unknown> = () => {
    throw new Error('a service passes its caller to a transaction, but its controller does not use `answer`');
  };

  /** @param response as the guards leave it: headers that they have set are not part of the answer. */
  constructor(
    private readonly repository: IdempotencyRepository,
    private readonly request: RequestIdentity,
    private readonly response: Response,
  ) {
    this.inherited = new Set(response.getHeaderNames());
  }

  /** @throws FirstAnswer; ProblemError `validation_failed` where the key came with another request. */
  async assertFirst(sql: Sql = this.repository.database): Promise<void> {
    const { id, content } = this.request;
    if (content === PENDING) return;
    const row = await this.repository.find(sql, id);
    if (!row) return;
    this.hasOldRow = row.created < oldest();
    if (this.hasOldRow) return;
    const first = isUuid(row.answer) ? earlierCreate(this.request, row) : this.answerIn(row);
    if (first) throw new FirstAnswer(first);
    const message = 'was used with another request within 24 hours';
    throw validationFailed([{ field: 'Idempotency-Key', code: 'invalid_value', message }]);
  }

  async part(number: number): Promise<RepeatableRequest> {
    const { id, key, method, url } = this.request;
    const identity = { id: sha256(JSON.stringify([id, number])), key, method, url, content: this.mac() };
    const part = new IdempotentRequest(this.repository, identity, this.response);
    await part.assertFirst();
    return part;
  }

  async received(content: unknown): Promise<void> {
    this.request.content = content;
    await this.assertFirst();
  }

  /** @throws whatever `effect` and `present` throw, unless an equal request was answered in the meantime: FirstAnswer. */
  async answer<T, A>(effect: () => Promise<T>, present: Present<T, A>): Promise<A> {
    const made: { result: unknown; answer: A }[] = [];
    this.present = async (result, tx) => {
      const answer = await present(result as T, tx); // compared below
      made.unshift({ result, answer });
      return answer;
    };
    try {
      const result = await effect();
      const [last] = made;
      if (last && last.result === result) return last.answer;
    } catch (error) {
      await this.assertNotAnswered();
      throw error;
    }
    throw new Error('a service that passes its caller to a transaction must return the result of that one');
  }

  async keep(tx: Sql, result: unknown): Promise<void> {
    const { id, key } = this.request;
    const body = await this.present(result, tx);
    const answer = {
      status: this.response.statusCode,
      headers: this.ownHeaders(),
      body: body === undefined ? '' : JSON.stringify(body),
    };
    if (this.hasOldRow) await this.repository.deleteOld(tx, id, oldest());
    await this.repository.insert(tx, {
      id,
      request_mac: this.mac(),
      answer: seal(answer, key, id),
      created: now(),
    });
  }

  /** Its own twin may be why a request failed, or its commit had worked. What else there is to say, the error says. */
  private async assertNotAnswered(): Promise<void> {
    try {
      await this.assertFirst();
    } catch (found) {
      if (found instanceof FirstAnswer) throw found;
    }
  }

  private answerIn({ request_mac, answer }: { request_mac: string; answer: string }): SentAnswer | undefined {
    const { id, key } = this.request;
    return request_mac === this.mac() ? unseal(answer, key, id) : undefined;
  }

  private mac(): string {
    const { key, method, url, content } = this.request;
    if (this.known && this.known.content === content) return this.known.mac;
    this.known = { content, mac: requestMac(key, [method, url, content]) };
    return this.known.mac;
  }

  private ownHeaders(): SentAnswer['headers'] {
    const own = Object.entries(this.response.getHeaders()).filter(([name]) => !this.inherited.has(name));
    return Object.fromEntries(
      own.map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]),
    );
  }
}

/** The content of a file that has not been read. */
export const PENDING = Symbol('pending');

const oldest = (): string => secondsFrom(now(), -KEPT_SECONDS);

/** Rows that an earlier version wrote hold the uuid of a new user; they live for a day after the update. */
function earlierCreate(
  { key, method, url, content }: RequestIdentity,
  { request_mac, answer: uuid }: { request_mac: string; answer: string },
): SentAnswer | undefined {
  if (method !== 'POST' || !/\/users\/?$/.test(url) || request_mac !== requestMac(key, content))
    return undefined;
  return {
    status: 201,
    headers: { location: `${url.replace(/\/$/, '')}/${uuid}` },
    body: JSON.stringify({ uuid }),
  };
}
