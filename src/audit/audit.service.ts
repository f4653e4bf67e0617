import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { type Caller } from '../access/actor.js';
import { Changes } from '../common/changes.js';
import { now, secondsFrom } from '../common/time.js';
import { uuidsInOrder } from '../common/uuid.js';
import { Env } from '../config/env.js';
import type { Sql } from '../database/engine/sql.js';
import type { AuditAction, AuditChange, AuditRecord, TARGET_KINDS } from './audit-event.js';
import type { AuditFilter } from './audit.query.js';
import { type AuditPage, AuditRepository } from './audit.repository.js';

export interface AuditEvent {
  action: AuditAction;
  target: { kind: (typeof TARGET_KINDS)[number]; id: string };
  changes?: readonly AuditChange[] | Changes;
}

const PAGE = 500;
const PURGE_ROWS = 500;
const DAY_SECONDS = 24 * 60 * 60;

/** Records who changed what, in the transaction of the change, so that neither exists without the other. */
@Injectable()
export class AuditService {
  constructor(
    private readonly repository: AuditRepository,
    private readonly env: Env,
  ) {}

  async record(tx: Sql, caller: Caller, events: readonly AuditEvent[]): Promise<void> {
    const time = now();
    const ids = uuidsInOrder(events.length);
    const rows = events.map(({ action, target, changes }, index) => ({
      id: ids[index] ?? '',
      time,
      actor_kind: caller.actor.kind,
      actor_id: caller.actor.id,
      action,
      target_kind: target.kind,
      target_id: target.id,
      changes: (changes instanceof Changes ? changes : Changes.of(changes ?? [])).text,
      request_id: caller.requestId,
      ip: caller.ip,
    }));
    await this.repository.append(tx, rows);
  }

  /** A page of events, newest first, after the one with the id `after`. */
  async page(filter: AuditFilter, after: string | undefined, limit: number): Promise<AuditPage> {
    return this.repository.page(filter, after, limit);
  }

  /** The number of events, at most 10,000. */
  async count(filter: AuditFilter): Promise<number> {
    return this.repository.count(filter);
  }

  /** All events in pages, newest first. */
  async *all(filter: AuditFilter): AsyncGenerator<AuditRecord[]> {
    for (let after: string | undefined; ;) {
      const { records, last } = await this.repository.page(filter, after, PAGE);
      yield records;
      if (last === undefined) return;
      after = last;
    }
  }

  /** Deletes events older than AUDIT_RETENTION_DAYS, in short transactions that block no other writer for long. */
  async purge(): Promise<void> {
    const days = this.env.AUDIT_RETENTION_DAYS;
    if (days === undefined) return;
    const oldest = secondsFrom(now(), -days * DAY_SECONDS);
    while ((await this.repository.deleteBefore(oldest, PURGE_ROWS)) === PURGE_ROWS) await setImmediate();
  }
}
