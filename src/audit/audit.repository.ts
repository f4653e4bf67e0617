import { Inject, Injectable } from '@nestjs/common';
import { DatabaseFault } from '../platform/database/engine/database-fault.js';
import { type Sql, insertRows } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { AuditEventEntity } from './audit.entity.js';
import type { AuditAction } from './audit-event.js';

/** Hand-written SQL: appends are part of bulk writes (ADR 0013). */
@Injectable()
export class AuditRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param tx the transaction of what is recorded; without one the rows are written by themselves. */
  async append(events: readonly AuditEventEntity[], tx: Sql = this.database): Promise<void> {
    await insertRows(tx, AuditEventEntity, events);
  }

  /** Appends a row of which there is one of this id at most. */
  async appendOnce(event: AuditEventEntity): Promise<void> {
    try {
      await insertRows(this.database, AuditEventEntity, [event]);
    } catch (error) {
      if (!(error instanceof DatabaseFault && error.fault === 'duplicate')) throw error;
    }
  }

  /** Whether there is an event of this action about the target, from this address. The events of a target are few. */
  async has(target: string, action: AuditAction, ip: string): Promise<boolean> {
    const found = await this.database.first(
      'SELECT id FROM audit_events WHERE target_id = ? AND action = ? AND ip = ? LIMIT 1',
      [target, action, ip],
    );
    return found !== undefined;
  }

  /** Deletes the oldest rows, of ids less than `until`. @returns how many, at most `limit`. */
  async deleteBefore(until: string, limit: number): Promise<number> {
    // Up to a known id: for a list of them, or a subquery, MariaDB scans the whole table.
    const [oldest] = await this.database.query<{ last: string | null }>(
      'SELECT MAX(id) AS last FROM (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?) AS oldest',
      [until, limit],
    );
    if (!oldest?.last) return 0;
    return this.database.execute('DELETE FROM audit_events WHERE id <= ?', [oldest.last]);
  }
}
