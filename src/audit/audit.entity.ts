import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ChangesText } from '../platform/common/field-changes.js';
import { ascii, integer, longText, text, time, uuid } from '../platform/database/engine/columns.js';
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

/** What someone did for an import. */
export type RunPart = 'started' | 'approved';

/**
 * Who is behind an import, once a run and not in each of its audit rows: a run writes one of those for every user that it
 * changes.
 */
@Entity('audit_runs', { withoutRowid: true })
@Index('ix_audit_runs_person', ['person_id', 'run_id'])
export class AuditRunEntity {
  @PrimaryColumn(uuid()) run_id!: string;
  @PrimaryColumn(ascii(16)) part!: RunPart;
  /** key, user or system. */
  @Column(ascii(16)) person_kind!: string;
  @Column({ ...uuid(), nullable: true }) person_id!: string | null;
}

/** A seal over the audit rows from the end of the seal before to `until_id` (exclusive), and over late ones (ADR 19). */
@Entity('audit_seals')
@Index('ix_audit_seals_until', ['until_id'])
export class AuditSealEntity {
  /** From 1, without gaps. The primary key admits one seal of a number, whoever makes it. */
  @PrimaryColumn({ ...integer() }) number!: number;
  @Column(time()) sealed!: string;
  @Column(uuid()) until_id!: string;
  @Column(integer()) row_count!: number;
  @Column(ascii(64)) rows_hash!: string;
  /** Rows of other times that this seal covers one by one (`audit_late_events`). */
  @Column(integer()) late_count!: number;
  @Column(ascii(64)) late_hash!: string;
  /** The newest seal whose rows the retention may delete; 0 for none. */
  @Column(integer()) purged!: number;
  /** Names the key of AUDIT_SEAL_KEY; empty without one. */
  @Column(ascii(16)) key_id!: string;
  @Column(ascii(64)) hash!: string;
  /** Six bytes for each of its rows, in base64, by which others are told from them; null when its rows were deleted. */
  @Column({ ...longText(), nullable: true }) members!: string | null;
  @Column(ascii(64)) members_hash!: string;
}

/** An audit row that a seal saw outside of its range: it came late, or has a time of the future (ADR 19). */
@Entity('audit_late_events', { withoutRowid: true })
@Index('ix_audit_late_events_seal', ['seal', 'id'])
export class AuditLateEventEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(integer()) seal!: number;
  /** Of the row, so that the seal still fits when the retention has deleted it. */
  @Column(ascii(64)) row_hash!: string;
}

/**
 * How many rows of an action and an hour a seal covers (ADR 28). It stays when the rows are deleted.
 */
@Entity('audit_counts', { withoutRowid: true })
export class AuditCountEntity {
  @PrimaryColumn({ ...integer() }) seal!: number;
  /** Hours since 1970 (UTC). */
  @PrimaryColumn({ ...integer() }) hour!: number;
  @PrimaryColumn(ascii(64)) action!: string;
  @Column(integer()) value!: number;
}
