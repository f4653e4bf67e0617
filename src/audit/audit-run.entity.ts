import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, uuid } from '../platform/database/engine/columns.js';

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
