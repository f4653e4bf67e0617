import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../platform/common/json.js';
import { integer, longText, text, time, uuid } from '../platform/database/engine/columns.js';

/** A group. `groups` is a word of MySQL, hence the name of the table. */
@Entity('user_groups')
@Index('uq_user_groups_name', ['display_name_key'], { unique: true })
@Index('uq_user_groups_external_id', ['external_id'], { unique: true })
@Index('ix_user_groups_created', ['created', 'uuid'])
@Index('ix_user_groups_updated', ['updated', 'uuid'])
export class GroupEntity {
  @PrimaryColumn(uuid()) uuid!: string;
  @Column(text(255)) display_name!: string;
  /** By which names of groups are equal: that of usernames (`model/comparison-keys.ts`). */
  @Column(text(255)) display_name_key!: string;
  @Column({ ...text(255), nullable: true }) external_id!: string | null;
  /** JSON array of canonical role names that members get; null for none. */
  @Column({ ...longText(), nullable: true }) roles!: JsonText<readonly string[]> | null;
  @Column(time()) created!: string;
  @Column(time()) updated!: string;
  /** Grows by one with every change, of members too; the ETag names it. */
  @Column(integer()) version!: number;
}

/** Who is a member of which group. The user writer deletes the rows of users that it deletes. */
@Entity('group_members', { withoutRowid: true })
@Index('ix_group_members_user', ['user_uuid', 'group_uuid'])
export class GroupMemberEntity {
  @PrimaryColumn(uuid()) group_uuid!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}
