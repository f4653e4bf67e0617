import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { flag, integer, longText, text, time, uuid } from '../../database/engine/columns.js';

/**
 * A user is one row, read with one look-up and no join (ADR 0003). `*_key` and `*_sort` are computed by
 * `user.keys.ts` and serve filters and sorting; `user-lookups.entity.ts` holds what must be unique or searched.
 * Every index ends in `uuid`, so that a page is read in index order with a total order.
 */
@Entity('users')
@Index('ix_users_username', ['username_key', 'uuid'])
@Index('ix_users_email', ['email_key', 'uuid'])
@Index('ix_users_external_id', ['external_id_key', 'uuid'])
@Index('ix_users_firstname', ['firstname_sort', 'uuid'])
@Index('ix_users_surname', ['surname_sort', 'uuid'])
@Index('ix_users_status', ['status', 'uuid'])
@Index('ix_users_created', ['created', 'uuid'])
@Index('ix_users_updated', ['updated', 'uuid'])
@Index('ix_users_manager', ['manager_uuid', 'uuid'])
@Index('ix_users_managed_by', ['managed_by', 'uuid'])
export class UserEntity {
  @PrimaryColumn(uuid()) uuid!: string;

  @Column(text(254)) username!: string;
  @Column(text(255)) username_key!: string;
  @Column(text(254)) email!: string;
  @Column(text(255)) email_key!: string;
  @Column(text(255)) external_id!: string;
  @Column({ ...text(255), nullable: true }) external_id_key!: string | null;

  /** JSON array of canonical role names. */
  @Column(longText()) roles!: string;
  @Column(text(8)) status!: string;
  @Column(text(64)) phone!: string;
  @Column(text(64)) mobile!: string;
  @Column(text(255)) firstname!: string;
  @Column(text(255)) firstname_sort!: string;
  @Column(text(255)) middle_name!: string;
  @Column(text(255)) surname!: string;
  @Column(text(255)) surname_sort!: string;
  @Column(text(255)) known_as!: string;

  /** JSON object: method → array of login names. */
  @Column({ ...longText(), nullable: true }) authname!: string | null;
  /** argon2id in PHC form, parameters included. */
  @Column({ ...text(255), nullable: true }) password_hash!: string | null;
  @Column(text(2048)) user_avatar!: string;
  @Column({ ...uuid(), nullable: true }) manager_uuid!: string | null;
  @Column(longText()) about_me!: string;
  /** JSON object: network → URL. */
  @Column({ ...longText(), nullable: true }) social_media!: string | null;
  @Column(flag()) hide_email!: number;
  @Column(flag()) hide_phone_numbers!: number;

  /** Data set of the import that manages this user. */
  @Column({ ...text(64), nullable: true }) managed_by!: string | null;
  @Column(time()) created!: string;
  @Column(time()) updated!: string;
  @Column({ ...time(), nullable: true }) last_access!: string | null;
  /** Grows by one with every change: what an ETag stands for. */
  @Column(integer()) version!: number;
}
