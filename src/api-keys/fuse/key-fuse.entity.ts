import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { time, uuid } from '../../platform/database/engine/columns.js';

/** A user that a key has blocked. Rows are only inserted, so that changes of different users share none. */
@Entity('key_deactivations', { withoutRowid: true })
@Index('ix_key_deactivations_time', ['time'])
export class KeyDeactivationEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  @PrimaryColumn(time()) time!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** A key whose fuse has blown once. */
@Entity('key_fuses', { withoutRowid: true })
export class KeyFuseEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  /** When it did; null after a reset. */
  @Column({ ...time(), nullable: true }) blown!: string | null;
  /** Until then nothing is refused, and nothing from before is counted. */
  @Column({ ...time(), nullable: true }) open_until!: string | null;
}
