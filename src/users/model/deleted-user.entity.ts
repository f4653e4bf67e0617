import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../../platform/common/json.js';
import { longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import { MAX } from './formats.js';
import type { UserRow } from './user.js';

/** A deleted user, until the user is restored or purged (ADR 23). Only the user writer uses this table. */
@Entity('deleted_users')
@Index('ix_deleted_users_deleted', ['deleted', 'uuid'])
export class DeletedUserEntity {
  @PrimaryColumn(uuid()) uuid!: string;
  @Column(time()) deleted!: string;
  @Column(text(MAX.externalId)) external_id!: string;
  /** The `users` row at the time of the deletion, as JSON. */
  @Column(longText()) document!: JsonText<UserRow>;
}
