import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError } from '../platform/common/errors.js';
import { sha256 } from '../platform/common/secrets.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { IdempotentRequest, PENDING, computeExpiryCutoff } from './idempotent-request.js';

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
