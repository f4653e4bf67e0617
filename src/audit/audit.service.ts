import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, actorId } from '../access/actor.js';
import { now } from '../common/time.js';
import type { Sql } from '../database/sql.js';
import { AuditRepository } from './audit.repository.js';

export type AuditAction =
  | 'user.created'
  | 'user.updated'
  | 'user.blocked'
  | 'user.reactivated'
  | 'session.created'
  | 'session.ended'
  | 'api_key.created'
  | 'api_key.revoked'
  | 'import.approved'
  | 'import.rejected'
  | 'import.cancelled'
  | 'import.reverted'
  | 'import.completed';

export interface AuditEvent {
  action: AuditAction;
  target: { kind: 'user' | 'session' | 'api_key' | 'import'; id: string };
  /** `{field, old, new}`; a secret is named without values. */
  changes?: readonly object[];
}

/** Who did what to whom: written in the transaction of the change, so that neither exists without the other. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  async record(tx: Sql, caller: Caller, events: readonly AuditEvent[]): Promise<void> {
    const time = now();
    const rows = events.map(({ action, target, changes }) => ({
      id: uuidv7(),
      time,
      actor_kind: caller.actor.kind,
      actor_id: actorId(caller.actor),
      action,
      target_kind: target.kind,
      target_id: target.id,
      changes: JSON.stringify(changes ?? []),
      request_id: caller.requestId,
      ip: caller.ip,
    }));
    await this.repository.append(tx, rows);
  }
}
