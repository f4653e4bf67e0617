import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { type Actor, actorId } from '../access/actor.js';
import { ProblemError, validationFailed } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import { sha256 } from '../common/secret.js';
import { now, secondsFrom } from '../common/time.js';
import type { Sql } from '../database/sql.js';
import { IdempotencyRepository } from './idempotency.repository.js';

const KEPT_SECONDS = 24 * 60 * 60;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** One request that may arrive more than once. */
export interface IdempotentRequest {
  id: string;
  bodyMac: string;
}

/** `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a retried create gives the first answer again. */
@Injectable()
export class IdempotencyService {
  constructor(private readonly repository: IdempotencyRepository) {}

  /** @throws ProblemError `invalid_parameter` for a key that is not 1 to 255 printable ASCII characters. */
  identify(key: string | undefined, body: JsonObject, actor: Actor): IdempotentRequest | undefined {
    if (key === undefined) return undefined;
    if (!KEY.test(key)) {
      throw new ProblemError(
        'invalid_parameter',
        'Idempotency-Key must have 1 to 255 printable ASCII characters.',
      );
    }
    return {
      id: sha256(JSON.stringify([actor.kind, actorId(actor), key])),
      bodyMac: createHmac('sha256', key).update(JSON.stringify(body)).digest('hex'),
    };
  }

  /**
   * The user that the first of these requests has made. Together with `keep` in one transaction.
   * @throws ProblemError `validation_failed` when the key came with another body before.
   */
  async earlier(tx: Sql, request: IdempotentRequest): Promise<string | undefined> {
    const row = await this.repository.find(tx, request.id);
    if (!row) return undefined;
    if (row.created < secondsFrom(now(), -KEPT_SECONDS)) {
      await this.repository.delete(tx, request.id);
      return undefined;
    }
    if (row.body_mac === request.bodyMac) return row.user_uuid;
    const message = 'was used with another body within 24 hours';
    throw validationFailed([{ field: 'Idempotency-Key', code: 'invalid_value', message }]);
  }

  async keep(tx: Sql, request: IdempotentRequest, userUuid: string): Promise<void> {
    const { id, bodyMac } = request;
    await this.repository.insert(tx, { id, body_mac: bodyMac, user_uuid: userUuid, created: now() });
  }

  async purge(): Promise<void> {
    await this.repository.deleteBefore(secondsFrom(now(), -KEPT_SECONDS));
  }
}
