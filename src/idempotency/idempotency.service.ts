import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError, createKeyReuseError, createUnavailableError } from '../platform/common/errors.js';
import { sha256 } from '../platform/common/secrets.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import type { RepeatableRequest } from '../access/actor.js';
import { DAY_SECONDS, now, addSeconds } from '../platform/common/time.js';
import { DatabaseError, runWithRetry } from '../platform/database/engine/database-error.js';
import type { Sql } from '../platform/database/engine/sql.js';
import type { HeldTransaction } from '../platform/database/transaction-runner.js';
import { ReplayedResponseError, type StoredResponse } from '../platform/http/error.filter.js';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const RETENTION_SECONDS = DAY_SECONDS;

/** Data that is equal in all repetitions of a request. */
interface RequestIdentity {
  /** Primary key of the stored response: SHA-256 of the client's credential and the `Idempotency-Key`. */
  id: string;
  key: string;
  method: string;
  url: string;
  /** The JSON body, undefined if there is no body, or `PENDING` for a file that is not yet read. */
  content: unknown;
}

/**
 * A request with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, ADR 16). Its effect and its response
 * are written in one transaction. Equal requests share the primary key of the response, so only one of them can
 * succeed. A rejected request writes nothing.
 */
class IdempotentRequest implements RepeatableRequest {
  private readonly guardHeaders: ReadonlySet<string> = new Set(this.response.getHeaderNames());
  private readonly hasFile = this.request.content === PENDING;
  private hasExpiredRow = false;
  /** MAC of the request. It is cached, because each part of a Bulk request needs the same MAC. */
  private cachedMac: string | undefined;
  private heldTransaction: HeldTransaction | undefined;
  private commitCallbacks: (() => void | Promise<void>)[] = [];
  private rollbackCallbacks: (() => Promise<void>)[] = [];

  /** @param response response to the request. Headers that guards have set are not stored. */
  constructor(
    private readonly repository: IdempotencyRepository,
    private readonly request: RequestIdentity,
    private readonly response: Response,
  ) {}

  get transaction(): Sql | undefined {
    return this.heldTransaction?.sql;
  }

  get fingerprint(): string {
    return sha256(this.request.id + this.getMac());
  }

  setHeldTransaction(transaction: HeldTransaction): void {
    this.heldTransaction = transaction;
  }

  runAfterCommit(work: () => void | Promise<void>): void {
    this.commitCallbacks.push(work);
  }

  runAfterRollback(work: () => Promise<void>): void {
    this.rollbackCallbacks.push(work);
  }

  /**
   * @throws ReplayedResponseError for a repeated request, ProblemError `validation_failed` if the key belongs to a
   * different request.
   */
  async assertFirstRequest(sql: Sql = this.repository.database): Promise<void> {
    const { id, content } = this.request;
    if (content === PENDING) return;
    const row = await this.repository.find(sql, id);
    if (!row) return;
    this.hasExpiredRow = row.created < computeExpiryCutoff();
    if (this.hasExpiredRow) return;
    if (row.request_mac !== this.getMac()) throw createKeyReuseError();
    throw new ReplayedResponseError(decryptResponse(row.answer, this.request.key, id));
  }

  async createPartRequest(number: number): Promise<RepeatableRequest> {
    const { id, key, method, url } = this.request;
    const identity = { id: sha256(JSON.stringify([id, number])), key, method, url, content: this.getMac() };
    const part = new IdempotentRequest(this.repository, identity, this.response);
    await part.assertFirstRequest();
    return part;
  }

  async setContent(content: unknown): Promise<void> {
    this.request.content = content;
    this.cachedMac = undefined;
    await this.assertFirstRequest();
  }

  /**
   * Runs the handler, and runs it again if the commit loses a race.
   * @throws any error of the handler, ReplayedResponseError if an equal request has stored its response in the
   * meantime, or ProblemError `unavailable` if the body is a file, which cannot be read a second time.
   */
  async runOnce<T>(handle: () => Promise<T>): Promise<T> {
    try {
      const handled = await runWithRetry('transaction', async (attempt) => {
        if (attempt > 1) await this.assertFirstRequest();
        if (attempt > 1 && this.hasFile)
          throw createUnavailableError('A concurrent request prevented this change. Send the file again.', 1);
        return this.runHandler(handle);
      });
      if ('error' in handled) throw handled.error;
      return handled.body;
    } catch (error) {
      // A response may be stored: by an equal concurrent request, or by this request if its commit took effect but
      // reported an error. If this lookup fails for another reason, the original error is thrown.
      await this.assertFirstRequest().catch((found: unknown) => {
        if (found instanceof ReplayedResponseError) throw found;
      });
      throw error;
    }
  }

  /**
   * Runs the handler and commits its transaction together with the response.
   * @returns the body of the response, or the error of the handler.
   * @throws an error of the open transaction or of its commit, after which the caller may run the handler again.
   */
  private async runHandler<T>(handle: () => Promise<T>): Promise<{ body: T } | { error: unknown }> {
    let body: T;
    try {
      body = await handle();
    } catch (error) {
      const isTransactionLost = this.heldTransaction !== undefined && error instanceof DatabaseError;
      await this.rollback();
      if (isTransactionLost) throw error;
      return { error };
    }
    try {
      if (this.heldTransaction) await this.storeResponse(this.heldTransaction, body);
    } catch (error) {
      await this.rollback();
      throw error;
    }
    this.heldTransaction = undefined;
    for (const work of this.commitCallbacks) await work();
    return { body };
  }

  private async storeResponse(transaction: HeldTransaction, body: unknown): Promise<void> {
    const { id, key } = this.request;
    const answer = {
      status: this.response.statusCode,
      headers: this.collectHeaders(),
      body: body === undefined ? '' : JSON.stringify(body),
    };
    if (this.hasExpiredRow) await this.repository.deleteExpired(transaction.sql, id, computeExpiryCutoff());
    await this.repository.insert(transaction.sql, {
      id,
      request_mac: this.getMac(),
      answer: encryptResponse(answer, key, id),
      created: now(),
    });
    await transaction.commit();
  }

  private async rollback(): Promise<void> {
    await this.heldTransaction?.rollback();
    this.heldTransaction = undefined;
    this.commitCallbacks = [];
    for (const work of this.rollbackCallbacks.splice(0)) await work();
  }

  /** Returns the MAC of the request, with the `Idempotency-Key` as secret. */
  private getMac(): string {
    const { key, method, url, content } = this.request;
    return (this.cachedMac ??= createHmac('sha256', key)
      .update(JSON.stringify([method, url, content]))
      .digest('hex'));
  }

  private collectHeaders(): StoredResponse['headers'] {
    const own = Object.entries(this.response.getHeaders()).filter(([name]) => !this.guardHeaders.has(name));
    return Object.fromEntries(own.map(([key, value]) => [key, Array.isArray(value) ? value : String(value)]));
  }
}

const PENDING = Symbol('pending');

const computeExpiryCutoff = (): string => addSeconds(now(), -RETENTION_SECONDS);

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a response, so that only a client with its `Idempotency-Key` can read it (ADR 16). Uses AES-256-GCM with a
 * key derived from the `Idempotency-Key` (RFC 5869).
 * @param id primary key of the row that stores the response. The response can be decrypted only for this row.
 */
function encryptResponse(response: StoredResponse, key: string, id: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(key), nonce).setAAD(Buffer.from(id));
  const encrypted = [cipher.update(JSON.stringify(response), 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
}

/** Decrypts a stored response. @throws Error if the response was not encrypted with this key for this row. */
function decryptResponse(text: string, key: string, id: string): StoredResponse {
  const bytes = Buffer.from(text, 'base64');
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, deriveKey(key), nonce).setAAD(Buffer.from(id));
  cipher.setAuthTag(tag);
  const encrypted = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  const response = Buffer.concat([cipher.update(encrypted), cipher.final()]).toString('utf8');
  return JSON.parse(response) as StoredResponse; // the authentication tag proves that `encryptResponse` wrote this text
}

/** Derives the encryption key. A deliberately slow derivation is not needed, because clients use random keys. */
const deriveKey = (key: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', 'rollcall idempotent answer', 32));

const INVALID_KEY = 'Idempotency-Key must have 1 to 255 printable ASCII characters.';
const KEY = /^[\x21-\x7e]{1,255}$/;

@Injectable()
export class IdempotencyService {
  constructor(private readonly repository: IdempotencyRepository) {}

  /**
   * Returns the request if it is the first one with its `Idempotency-Key`.
   * @param hasFile true if the body is a file that is not yet read.
   * @throws ReplayedResponseError for a repeated request, ProblemError `validation_failed` for a different request with
   * the same key, `invalid_parameter` for a key that is not 1 to 255 printable ASCII characters.
   */
  async createRequest(
    key: string,
    request: Request<object, unknown, unknown>,
    response: Response,
    hasFile: boolean,
  ): Promise<IdempotentRequest> {
    if (!KEY.test(key)) throw new ProblemError('invalid_parameter', INVALID_KEY);
    const { actor, method, originalUrl: url } = request;
    const content = hasFile ? PENDING : request.body;
    const id = sha256(JSON.stringify([actor.kind, actor.id, key]));
    const repeatable = new IdempotentRequest(this.repository, { id, key, method, url, content }, response);
    await repeatable.assertFirstRequest();
    return repeatable;
  }

  async purge(): Promise<void> {
    await this.repository.deleteBefore(computeExpiryCutoff());
  }
}
