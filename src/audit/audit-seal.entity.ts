import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, integer, longText, time, uuid } from '../platform/database/engine/columns.js';

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
