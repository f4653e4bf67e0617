import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type JsonText, toJson } from '../../platform/common/json.js';
import { DEFAULT_ROLES } from '../../access/roles.js';
import { bool, int, longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import { type Attributes, type Authname, MAX, type SocialMedia, type UserStatus } from './formats.js';

/**
 * A user, in one row that is read without a join (ADR 3). The initial values of the columns define the empty user. The
 * columns `*_key` and `*_sort` are computed, for filters and sorting. Every index ends in `uuid`, so that pages have a
 * total order.
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
  @PrimaryColumn(uuid()) uuid = '';

  @Column(text(MAX.username)) username = '';
  @Column(text(255)) username_key = '';
  @Column(text(MAX.email)) email = '';
  @Column(text(255)) email_key = '';
  @Column(text(MAX.externalId)) external_id = '';
  @Column({ ...text(255), nullable: true }) external_id_key: string | null = null;

  @Column(longText()) roles: JsonText<readonly string[]> = toJson(DEFAULT_ROLES);
  @Column(text(8)) status: UserStatus = 'Active';
  @Column(text(MAX.phone)) phone = '';
  @Column(text(MAX.phone)) mobile = '';
  @Column(text(MAX.name)) firstname = '';
  @Column(text(255)) firstname_sort = '';
  @Column(text(MAX.name)) middle_name = '';
  @Column(text(MAX.name)) surname = '';
  @Column(text(255)) surname_sort = '';
  @Column(text(MAX.name)) known_as = '';

  @Column({ ...longText(), nullable: true }) authname: JsonText<Readonly<Authname>> | null = null;
  /** argon2id hash of the password in the PHC string format. */
  @Column({ ...text(255), nullable: true }) password_hash: string | null = null;
  /** 1 if the user must replace the password at the next login. */
  @Column(bool()) password_change_required = 0;
  @Column(text(MAX.url)) user_avatar = '';
  @Column({ ...uuid(), nullable: true }) manager_uuid: string | null = null;
  @Column(longText()) about_me = '';
  @Column({ ...longText(), nullable: true }) social_media: JsonText<Readonly<SocialMedia>> | null = null;
  @Column(bool()) hide_email = 0;
  @Column(bool()) hide_phone_numbers = 0;

  /** JSON object with attributes that only identity providers use. Null if empty. */
  @Column({ ...longText(), nullable: true }) attributes: JsonText<Attributes> | null = null;
  /** JSON array of the roles that the user gets from groups. Null if there are none. */
  @Column({ ...longText(), nullable: true }) group_roles: JsonText<readonly string[]> | null = null;

  /** The data set whose imports manage this user, or `scim` if an identity provider manages the user. */
  @Column({ ...text(64), nullable: true }) managed_by: string | null = null;
  /** The part of the data set to which this user belongs, if the data set has parts. */
  @Column({ ...text(64), nullable: true }) managed_part: string | null = null;
  /** Data set whose import blocked this user: its file did not contain the user, or set the status Blocked. Otherwise null. */
  @Column({ ...text(64), nullable: true }) blocked_by: string | null = null;
  @Column(time()) created = '';
  @Column(time()) updated = '';
  @Column({ ...time(), nullable: true }) last_access: string | null = null;
  /** Part of the ETag. Increases by one with every change. */
  @Column(int()) version = 1;
}
