import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../../platform/common/json.js';
import { longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import type { UserRow } from './user.js';

/** A deleted user, until the user is restored or purged (ADR 23). Only the user writer uses this table. */
@Entity('deleted_users')
@Index('ix_deleted_users_deleted', ['deleted', 'uuid'])
@Index('ix_deleted_users_external_id', ['external_id_key', 'uuid'])
export class DeletedUserEntity {
  @PrimaryColumn(uuid()) uuid!: string;
  @Column(time()) deleted!: string;
  @Column({ ...text(255), nullable: true }) external_id_key!: string | null;
  /** Data set whose files may create the user again, because a revert of one of its runs deleted the user. */
  @Column({ ...text(64), nullable: true }) reverted_dataset!: string | null;
  /** The `users` row at the time of the deletion, as JSON. */
  @Column(longText()) document!: JsonText<UserRow>;
}
