import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, int, text, uuid } from '../../platform/database/engine/columns.js';

/** Unique values: `login:<key>`, `external_id:<value>`, `authname:<method>:<value>`. The primary key decides races. */
@Entity('user_identifiers', { withoutRowid: true })
export class UserIdentifierEntity {
  @PrimaryColumn(text(320)) identifier!: string;
  @Column(uuid()) user_uuid!: string;
}

/**
 * Roles of a user, including roles from groups. There is no index by user, because the writer knows which rows a change
 * replaces (ADR 17).
 */
@Entity('user_roles', { withoutRowid: true })
export class UserRoleEntity {
  @PrimaryColumn(text(64)) role!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * Folded search words of a user, each with its highest weight in any field. There is no index by user (see
 * `UserRoleEntity`), so a change of `toWordRows` needs a migration that rebuilds all rows.
 */
@Entity('user_words', { withoutRowid: true })
export class UserWordEntity {
  @PrimaryColumn(text(255)) word!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
  @Column(int()) weight!: number;
  /** Weight without the fields that the user hides from others. 0 if only hidden fields contain the word. */
  @Column(int()) public_weight!: number;
}

/**
 * Attributes that identity providers search users by. There is no index by user (see `UserRoleEntity`), so a change of
 * `toValueRows` needs a migration that rebuilds all rows.
 */
@Entity('user_values', { withoutRowid: true })
export class UserValueEntity {
  @PrimaryColumn(ascii(32)) attribute!: string;
  @PrimaryColumn(text(255)) value_key!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** Difference that a change adds to a counter: `Active`, `Blocked` or `webmasters`. The sum of all rows is the total. */
@Entity('user_counts', { withoutRowid: true })
export class UserCountEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(ascii(32)) name!: string;
  @Column(int()) value!: number;
}

/** A set rule with the number of its validated changes. Each change updates the row, which serializes these changes. */
@Entity('user_rules', { withoutRowid: true })
export class UserRuleEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(int()) changes!: number;
}
