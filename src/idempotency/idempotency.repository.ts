import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../database/engine/bulk.js';
import { DATABASE, type Database } from '../database/engine/database.js';
import type { Sql } from '../database/engine/sql.js';
import { IdempotencyEntity } from './idempotency.entity.js';

/** Hand-written SQL: a create runs these statements in the transaction of the user (ADR 0013). */
@Injectable()
export class IdempotencyRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async find(tx: Sql, id: string): Promise<IdempotencyEntity | undefined> {
    return tx.first('SELECT id, body_mac, user_uuid, created FROM idempotency_keys WHERE id = ?', [id]);
  }

  async delete(tx: Sql, id: string): Promise<void> {
    await tx.execute('DELETE FROM idempotency_keys WHERE id = ?', [id]);
  }

  async insert(tx: Sql, row: IdempotencyEntity): Promise<void> {
    await insertRows(tx, IdempotencyEntity, [row]);
  }

  async deleteBefore(time: string): Promise<number> {
    return this.database.execute('DELETE FROM idempotency_keys WHERE created < ?', [time]);
  }
}
