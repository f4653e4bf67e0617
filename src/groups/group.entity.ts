import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../platform/common/json.js';
import { int, longText, text, time, uuid } from '../platform/database/engine/columns.js';

/** A group. The table is not called `groups`, because that is a reserved word in MySQL. */
@Entity('user_groups')
@Index('uq_user_groups_name', ['display_name_key'], { unique: true })
@Index('uq_user_groups_external_id', ['external_id'], { unique: true })
@Index('ix_user_groups_created', ['created', 'uuid'])
@Index('ix_user_groups_updated', ['updated', 'uuid'])
export class GroupEntity {
  @PrimaryColumn(uuid()) uuid!: string;
  @Column(text(255)) display_name!: string;
  /** Comparison key of the display name, computed as for a username (`model/comparison-keys.ts`). */
  @Column(text(255)) display_name_key!: string;
  @Column({ ...text(255), nullable: true }) external_id!: string | null;
  /** JSON array with the canonical names of the roles that members of the group get. Null for a group without roles. */
  @Column({ ...longText(), nullable: true }) roles!: JsonText<readonly string[]> | null;
  @Column(time()) created!: string;
  @Column(time()) updated!: string;
  /** Part of the ETag. Increases by one with every change of the group or its members. */
  @Column(int()) version!: number;
}

/** A membership of a user in a group. The user writer deletes the memberships of deleted users. */
@Entity('group_members', { withoutRowid: true })
@Index('ix_group_members_user', ['user_uuid', 'group_uuid'])
export class GroupMemberEntity {
  @PrimaryColumn(uuid()) group_uuid!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}
