import { Inject, Injectable } from '@nestjs/common';
import { type Sql, insertRows } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { IdempotencyEntity } from './idempotency.entity.js';

/**
 * Reads and writes stored responses. Uses hand-written SQL, so that the response and the effect of a request are
 * written in one transaction (ADR 13).
 */
@Injectable()
export class IdempotencyRepository {
  constructor(@Inject(DATABASE) readonly database: Database) {}

  async find(sql: Sql, id: string): Promise<IdempotencyEntity | undefined> {
    const text = 'SELECT id, request_mac, answer, created FROM idempotent_requests WHERE id = ?';
    return sql.queryOne(text, [id]);
  }

  async insert(tx: Sql, row: IdempotencyEntity): Promise<void> {
    await insertRows(tx, IdempotencyEntity, [row]);
  }

  async deleteExpired(tx: Sql, id: string, time: string): Promise<void> {
    await tx.execute('DELETE FROM idempotent_requests WHERE id = ? AND created < ?', [id, time]);
  }

  async deleteBefore(time: string): Promise<number> {
    return this.database.execute('DELETE FROM idempotent_requests WHERE created < ?', [time]);
  }
}
