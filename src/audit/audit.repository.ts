import { Injectable } from '@nestjs/common';
import { insertRows } from '../database/bulk.js';
import type { Sql } from '../database/sql.js';
import { AuditEventEntity } from './audit.entity.js';

@Injectable()
export class AuditRepository {
  async append(tx: Sql, events: readonly AuditEventEntity[]): Promise<void> {
    await insertRows(tx, AuditEventEntity, events);
  }
}
