import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, int, text, time, uuid } from '../../platform/database/engine/columns.js';

/**
 * An identifier of a user, as `login:<key>`, `external_id:<value>` or `authname:<method>:<value>`. The primary key
 * keeps two users from getting the same identifier.
 */
@Entity('user_identifiers', { withoutRowid: true })
export class UserIdentifierEntity {
  @PrimaryColumn(text(320)) identifier!: string;
  @Column(uuid()) user_uuid!: string;
}

/**
 * A role that a user has directly or from a group. There is no index by user, because the user writer knows which rows
 * a change replaces (ADR 17).
 */
@Entity('user_roles', { withoutRowid: true })
export class UserRoleEntity {
  @PrimaryColumn(text(64)) role!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * A search word of a user, with its highest weight in any field. To find the rows to delete, the user writer calls
 * `toWordRows` with the user before the change. If `toWordRows` changes, a migration must therefore rebuild all rows.
 */
@Entity('user_words', { withoutRowid: true })
export class UserWordEntity {
  @PrimaryColumn(text(255)) word!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
  @Column(int()) weight!: number;
  /** Highest weight of the word in the fields that other users can see, or 0. */
  @Column(int()) public_weight!: number;
}

/**
 * A value by which users are found and which several users can have. To find the rows to delete, the user writer calls
 * `toValueRows` with the user before the change. If `toValueRows` changes, a migration must therefore rebuild all rows.
 */
@Entity('user_values', { withoutRowid: true })
export class UserValueEntity {
  @PrimaryColumn(ascii(32)) attribute!: string;
  @PrimaryColumn(text(255)) value_key!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * A number that a change adds to the counter `Active`, `Blocked` or `webmasters`. It can be negative. The value of a
 * counter is the sum of its rows.
 */
@Entity('user_counts', { withoutRowid: true })
export class UserCountEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(ascii(32)) name!: string;
  @Column(int()) value!: number;
}

/** A username that is free after a rename or a deletion. It is reserved for its last owner. */
@Entity('released_usernames', { withoutRowid: true })
@Index('ix_released_usernames_released', ['released'])
export class ReleasedUsernameEntity {
  @PrimaryColumn(ascii(64)) username_hash!: string;
  /** Hash of the external id of the last owner. Empty for an owner without an external id. */
  @Column(ascii(64)) owner_hash!: string;
  @Column(time()) released!: string;
}

/**
 * A set rule, which applies to several users together. Each change that must obey the rule increases `changes`, so that
 * the row is locked and such changes run one after another.
 */
@Entity('user_rules', { withoutRowid: true })
export class UserRuleEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(int()) changes!: number;
}
