import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ChangesText } from '../platform/common/field-changes.js';
import { ascii, int, longText, text, time, uuid } from '../platform/database/engine/columns.js';
import type { AuditAction } from './audit-event.js';

/** Audit event, which is never changed. Ids are UUIDs of version 7, so they sort by time. */
@Entity('audit_events')
@Index('ix_audit_events_target', ['target_id', 'id'])
@Index('ix_audit_events_actor', ['actor_id', 'id'])
@Index('ix_audit_events_action', ['action', 'id'])
export class AuditEventEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(time()) time!: string;
  /** One of `ACTOR_KINDS`. */
  @Column(ascii(16)) actor_kind!: string;
  @Column({ ...uuid(), nullable: true }) actor_id!: string | null;
  @Column(ascii(64)) action!: AuditAction;
  @Column(ascii(16)) target_kind!: string;
  @Column(uuid()) target_id!: string;
  @Column(longText()) changes!: ChangesText;
  @Column(ascii(64)) request_id!: string;
  @Column(text(64)) ip!: string;
}

/** Seal over the events from the end of the previous seal to `until_id` (exclusive), and over late events (ADR 19). */
@Entity('audit_seals')
@Index('ix_audit_seals_until', ['until_id'])
export class AuditSealEntity {
  /** Seal numbers start at 1, without gaps. The primary key prevents two instances from creating the same seal. */
  @PrimaryColumn({ ...int() }) number!: number;
  @Column(time()) sealed!: string;
  @Column(uuid()) until_id!: string;
  @Column(int()) row_count!: number;
  @Column(ascii(64)) rows_hash!: string;
  /** Number of late events, each with an entry in `audit_late_events`. */
  @Column(int()) late_count!: number;
  @Column(ascii(64)) late_hash!: string;
  /** Number of the newest seal whose events may be deleted according to AUDIT_RETENTION_DAYS, or 0. */
  @Column(int()) purged!: number;
  /** Id of the key from AUDIT_SEAL_KEY. Empty if the seal was created without a key. */
  @Column(ascii(16)) key_id!: string;
  @Column(ascii(64)) hash!: string;
  /** Six bytes per sealed event, in base64, that reveal inserted events. Null after the events were deleted. */
  @Column({ ...longText(), nullable: true }) members!: string | null;
  @Column(ascii(64)) members_hash!: string;
}

/** Event that a seal covers outside its range of ids: a late event, or an event with a future time (ADR 19). */
@Entity('audit_late_events', { withoutRowid: true })
@Index('ix_audit_late_events_seal', ['seal', 'id'])
export class AuditLateEventEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(int()) seal!: number;
  /** Hash of the event, so that the seal can still be verified after the event was deleted. */
  @Column(ascii(64)) row_hash!: string;
}

/** Number of events that a seal covers, per action and hour (ADR 28). The counts remain when the events are deleted. */
@Entity('audit_counts', { withoutRowid: true })
export class AuditCountEntity {
  @PrimaryColumn({ ...int() }) seal!: number;
  /** Hour of the events, in hours since 1970 (UTC). */
  @PrimaryColumn({ ...int() }) hour!: number;
  @PrimaryColumn(ascii(64)) action!: string;
  @Column(int()) value!: number;
}
