import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ChangesText } from '../platform/common/changes.js';
import { ascii, longText, text, time, uuid } from '../platform/database/engine/columns.js';
import type { AuditAction } from './audit-event.js';

/** Append-only. The id is a UUID of version 7, so that its order is the order of time. */
@Entity('audit_events')
@Index('ix_audit_events_target', ['target_id', 'id'])
@Index('ix_audit_events_actor', ['actor_id', 'id'])
@Index('ix_audit_events_action', ['action', 'id'])
export class AuditEventEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(time()) time!: string;
  /** key, user, import or system. */
  @Column(ascii(16)) actor_kind!: string;
  @Column({ ...uuid(), nullable: true }) actor_id!: string | null;
  @Column(ascii(64)) action!: AuditAction;
  @Column(ascii(16)) target_kind!: string;
  @Column(uuid()) target_id!: string;
  @Column(longText()) changes!: ChangesText;
  @Column(ascii(64)) request_id!: string;
  @Column(text(64)) ip!: string;
}
