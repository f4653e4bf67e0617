import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { type Actor } from '../access/actor.js';
import { ProblemError, validationFailed } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import { sha256 } from '../common/secret.js';
import { now, secondsFrom } from '../common/time.js';
import type { Sql } from '../database/engine/sql.js';
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
      id: sha256(JSON.stringify([actor.kind, actor.id, key])),
      bodyMac: createHmac('sha256', key).update(JSON.stringify(body)).digest('hex'),
    };
  }

  /**
   * Takes the key for the user that is about to be made, in the transaction that makes it: the primary key lets one
   * of several equal requests through at a time, and a refused request gives the key back by its rollback.
   * @returns the user that an earlier one of these requests has made, if any.
   * @throws ProblemError `validation_failed` when the key came with another body before.
   */
  async claim(tx: Sql, { id, bodyMac }: IdempotentRequest, userUuid: string): Promise<string | undefined> {
    const row = await this.repository.find(tx, id);
    const time = now();
    if (row && row.created >= secondsFrom(time, -KEPT_SECONDS)) {
      if (row.body_mac === bodyMac) return row.user_uuid;
      const message = 'was used with another body within 24 hours';
      throw validationFailed([{ field: 'Idempotency-Key', code: 'invalid_value', message }]);
    }
    if (row) await this.repository.delete(tx, id);
    await this.repository.insert(tx, { id, body_mac: bodyMac, user_uuid: userUuid, created: time });
    return undefined;
  }

  async purge(): Promise<void> {
    await this.repository.deleteBefore(secondsFrom(now(), -KEPT_SECONDS));
  }
}
