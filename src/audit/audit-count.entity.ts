import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, integer } from '../platform/database/engine/columns.js';

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
